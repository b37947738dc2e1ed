# The gateway without its embedded Postgres: DATABASE_URL and SECRET_KEY must be set, and one of TLS_CERT with TLS_KEY,
# TRUSTED_PROXIES, PLAIN_HTTP=allow: whoever calls a container calls from another address than its own.
FROM node:24-slim AS pages
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY console/package.json console/package.json
# The bundler is an optional package: it has one for each platform.
RUN npm ci --workspace=console
COPY src/pages src/pages
COPY docs docs
COPY console console
RUN node src/pages/build-process.ts

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY migrations migrations
COPY src src
COPY workers workers
COPY --from=pages /app/console/dist console/dist
# Journal and images live in /data. Keep it on a volume: it holds the rows that Postgres has not taken yet.
# Compiled code is kept below the packages: a container that is started again starts faster.
RUN mkdir -p /data node_modules/.cache/tollgate && chown node:node /data node_modules/.cache/tollgate
VOLUME /data
USER node
EXPOSE 8787
# The certificate is for the name that clients call, which is not this address. A worker has no port.
HEALTHCHECK CMD ["node", "-e", "if (process.env.ROLE === 'worker') process.exit(0); require(process.env.TLS_CERT ? 'https' : 'http').get({ port: process.env.PORT || 8787, path: '/healthz', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "src/server.ts"]
