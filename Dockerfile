# The gateway without its embedded Postgres: DATABASE_URL and SECRET_KEY must be set, and one of TLS_CERT with TLS_KEY,
# TRUSTED_PROXIES, PLAIN_HTTP=allow: whoever calls a container calls from another address than its own.
#
# No Docker engine has built this file yet. packaging/try-image.ts runs its steps in a chroot, and the image's command.

# The package, as `npm run package` makes it: JavaScript, and the pages, built.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/package.json
COPY test/openapi-client/package.json test/openapi-client/package.json
# The bundler is an optional package: it has one for each platform.
RUN npm ci
COPY . .
RUN node runtime.cjs packaging/pack.ts --out /tmp
RUN mkdir /app && tar -xzf /tmp/tollgate-*.tgz --strip-components=1 -C /app && rm /app/package.json

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY --from=build /app ./
COPY packaging/warm.mjs packaging/warm.mjs
# Compiled code, for a root that is read-only: each start finds it.
RUN node packaging/warm.mjs
# The journal lives in /data. Keep it on a volume: it holds the rows that Postgres has not taken yet.
RUN mkdir -p /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 8787
# The certificate is for the name that clients call, which is not this address. A worker has no port.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=6 CMD ["node", "-e", "if (process.env.ROLE === 'worker') process.exit(0); require(process.env.TLS_CERT ? 'https' : 'http').get({ port: process.env.PORT || 8787, path: '/healthz', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "tollgate.cjs"]
CMD ["start"]
