# It reads a line like {"tool":"Lookup","call":"call_1","input":{"word":"tool"}}, and answers with one.
read -r line
echo '{"text":"no such word","failed":true}'
