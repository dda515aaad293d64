# workerd for `make serve-workerd`: the packed site in build/edge, and the images of media/ beside it.
using Workerd = import "/workerd/workerd.capnp";
using Packed = import "../../build/edge/config.capnp";

const config :Workerd.Config = (
    services = [
        (name = "front", worker = .front),
        (name = "site", worker = Packed.worker),
        (name = "files", disk = (path = "files")),
        (name = "release", disk = (path = "worker")),
        (name = "media", disk = (path = "../../media")),
    ],
    sockets = [(name = "http", address = "127.0.0.1:8788", http = (), service = "front")],
);

const front :Workerd.Worker = (
    modules = [
        (name = "workerd.js", esModule = embed "workerd.js"),
        (name = "images.js", esModule = embed "images.js"),
    ],
    compatibilityDate = "2025-09-01",
    bindings = [(name = "SITE", service = "site"), (name = "MEDIA", service = "media")],
);
