module github.com/euryale-dev/euryale/cluster

go 1.26

require (
	github.com/euryale-dev/euryale v0.0.0
	github.com/nats-io/nats-server/v2 v2.12.0
	github.com/nats-io/nats.go v1.47.0
)

require (
	github.com/antithesishq/antithesis-sdk-go v0.4.3-default-no-op // indirect
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/google/go-tpm v0.9.5 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/minio/highwayhash v1.0.3 // indirect
	github.com/nats-io/jwt/v2 v2.8.0 // indirect
	github.com/nats-io/nkeys v0.4.11 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.42.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/time v0.13.0 // indirect
)

replace github.com/euryale-dev/euryale => ../
