// Package effects holds what the policy of that name promises (J8): random messages of
// real tools on a real file tree, run out of order, leave every result, every file and
// the state as they would be if each call had waited for the one before it. How much
// ran beside something else, and how near that came to the lower bound, is measured in
// the same runs, so that equality is not bought by running all alone.
package effects
