# Image of the site in this folder: Python builds it in the first stage, nginx serves it in the second.
# docs/serving.md describes how to run it; compose.yaml runs it.

# Base images have a digest, which their owner cannot move to another image as a tag. The digests are those of
# https://github.com/docker-library/repo-info, of all platforms together; dependabot proposes newer ones.

# The large image has git, from which the build reads when each file changed.
FROM python:3.13-bookworm@sha256:227b6570d6ee07061ae6ca2eb04dedfb6d2b34045835f343065b9869e4d427ea AS build
WORKDIR /srv/comics
COPY requirements/run.txt requirements/
RUN pip install --no-cache-dir --require-hashes --requirement requirements/run.txt
# Only the files that .dockerignore admits.
COPY . .
# Manifest of the previous release, below this folder: unchanged bodies keep their Last-Modified.
ARG PREVIOUS=
RUN python build.py build --no-cache ${PREVIOUS:+--previous "$PREVIOUS"}
RUN python build.py verify

# This image has the njs module and curl; alpine-slim has neither.
FROM nginx:1.30.5@sha256:b972f831f200b19ef0767938224f9711e74cd783718738cd7405d5cabf75c442
# The version of the program that made the site; tests compare it with the program.
LABEL org.opencontainers.image.title="flatpanel" org.opencontainers.image.version="1.0.0"
WORKDIR /srv/comics
COPY --from=build /srv/comics/nginx.conf ./
COPY --from=build /srv/comics/dist dist
# nginx writes only into this folder.
RUN chown nginx:nginx dist/run
USER nginx
# The build fails if nginx could not start.
RUN nginx -e stderr -p /srv/comics -c nginx.conf -t
EXPOSE 8000
# At the port in site.yaml.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD \
    curl --fail --silent --output /dev/null \
    "http://127.0.0.1:$(sed -n 's/^ *listen //; s/ default_server;$//p' nginx.conf)/index.json"
# Not the start script of the image, which writes to folders that are read-only here.
ENTRYPOINT ["nginx", "-e", "stderr", "-p", "/srv/comics", "-c", "nginx.conf"]
# Server errors go to the log of Docker too; requests are not quoted (see docs/serving.md).
CMD ["-g", "daemon off; error_log stderr;"]
