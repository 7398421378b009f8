module straddle.test/real/http2-client

go 1.26.0
