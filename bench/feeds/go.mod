module freshet/bench/feeds

go 1.26.0

replace freshet => ../..

require (
	freshet v0.0.0-00010101000000-000000000000
	github.com/mmcdole/gofeed v1.4.2
	golang.org/x/net v0.62.0
)

require (
	github.com/mmcdole/goxpp/v2 v2.0.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
