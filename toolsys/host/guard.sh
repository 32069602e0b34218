trap '' HUP INT TERM
all=' '
while read -r op id; do
	case $op in
	+) all="$all$id " ;;
	-) all="${all%% $id *} ${all#* $id }" ;;
	esac
done
for id in $all; do kill -s TERM -- "-$id"; done 2>/dev/null
[ "$all" = ' ' ] || sleep 1
for id in $all; do kill -s KILL -- "-$id"; done 2>/dev/null