# workerd, the runtime of Cloudflare Workers, on this machine. Run in this folder:
#   workerd serve config.capnp
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
    services = [
        (name = "site", worker = .worker),
        (name = "files", disk = (path = "files")),
        (name = "release", disk = (path = "worker")),
    ],
    sockets = [(name = "http", address = "127.0.0.1:8788", http = (), service = "site")],
);

const worker :Workerd.Worker = (
    modules = [
{% for module in modules %}
        (name = "{{ module }}", esModule = embed "{{ module }}"),
{% endfor %}
    ],
    compatibilityDate = {{ date }},
    compatibilityFlags = ["nodejs_compat"],
    bindings = [(name = "ASSETS", service = "files"), (name = "RELEASE", service = "release")],
);
