// Marks the folder as a module. The versions to build with are in client-go-0.35.mod and client-go-0.37.mod.
module straddle.test/real/informer

go 1.26.0
