module toolbench/bench/measure

go 1.26.0
