while read -r line; do
  case $line in
  *'"word":"tool"'*) echo '{"text":"a thing to work with"}' ;;
  *) echo '{"text":"no such word","failed":true}' ;;
  esac
done
