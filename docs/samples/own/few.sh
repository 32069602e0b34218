read -r report
n=$(printf '%s' "$report" | grep -o '"tool":"Lookup","' | wc -l)
if [ "$n" -le 1 ]; then echo '{"text":"few"}'; else echo "{\"text\":\"Lookup was called $((n)) times\",\"failed\":true}"; fi
