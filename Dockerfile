# One node of vostro. It needs a Postgres and, with other nodes beside it, a Redis: see compose.yaml.
FROM node:20-bookworm-slim
WORKDIR /srv/vostro
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
# The npm package `node` brings the Node that the service runs on.
RUN npm ci --omit=dev
COPY tsconfig.json ./
COPY lib lib
COPY storage storage
COPY actors actors
COPY workers workers
COPY http http
ARG GIT_COMMIT=unknown
ENV GIT_COMMIT=$GIT_COMMIT HOST=0.0.0.0 PORT=3000 DATA_DIR=/var/lib/vostro
RUN mkdir -p /var/lib/vostro && chown node:node /var/lib/vostro
USER node
VOLUME /var/lib/vostro
EXPOSE 3000
# Not through npm, so that SIGTERM reaches the service itself.
CMD ["node_modules/.bin/node", "--max-semi-space-size=32", "http/server/main.ts"]
