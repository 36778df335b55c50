# syntax=docker/dockerfile:1
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
# Static, without paths of the build machine. timetzdata puts the time zones into the binary, for "each day" and "each month".
RUN CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags "-s -w -X main.version=${VERSION}" -o /out/tokenfare ./cmd/tokenfare
RUN mkdir /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/tokenfare /tokenfare
USER 65532:65532
# The ledger: mount a volume here, or what was spent is forgotten with the container.
COPY --from=build --chown=65532:65532 /out/data /data
ENV TOKENFARE_DATA=/data
EXPOSE 8080
# Mount your configuration at /config.yaml; in it, listen on ":8080" so that the container can be reached.
HEALTHCHECK --interval=10s --timeout=3s CMD ["/tokenfare", "health", "-config", "/config.yaml"]
ENTRYPOINT ["/tokenfare"]
CMD ["serve", "-config", "/config.yaml"]
