# The site of this folder as an image: Python builds it, nginx serves it, and nothing of Python is left.
# docs/serving.md says how it is run; compose.yaml runs it.

# Not the slim one: this one has git, which knows when each file of the catalog changed.
FROM python:3.13-bookworm AS build
WORKDIR /srv/comics
COPY requirements/run.txt requirements/
RUN pip install --no-cache-dir --require-hashes --requirement requirements/run.txt
# All that .dockerignore lets in.
COPY . .
# The manifest of the release before, below this folder: what has not changed keeps the date that clients have seen.
ARG PREVIOUS=
RUN python build.py build --no-cache ${PREVIOUS:+--previous "$PREVIOUS"}
RUN python build.py verify

# Not the alpine-slim one: this one has the module for JavaScript, and curl.
FROM nginx:1.28
WORKDIR /srv/comics
COPY --from=build /srv/comics/nginx.conf ./
COPY --from=build /srv/comics/dist dist
# The one folder into which nginx writes.
RUN chown nginx:nginx dist/run
USER nginx
# An image that could not start is not made.
RUN nginx -e stderr -p /srv/comics -c nginx.conf -t
EXPOSE 8000
# At the port that site.yaml chose.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD \
    curl --fail --silent --output /dev/null \
    "http://127.0.0.1:$(sed -n 's/^ *listen //; s/ default_server;$//p' nginx.conf)/"
# Nothing of the image's own start is needed, which would write to places that are read-only here.
ENTRYPOINT ["nginx", "-e", "stderr", "-p", "/srv/comics", "-c", "nginx.conf"]
# What is wrong with the server is said to Docker as well; requests are not quoted (see docs/serving.md).
CMD ["-g", "daemon off; error_log stderr;"]
