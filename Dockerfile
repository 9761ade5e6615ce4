# The image holds Node, one bundle and its source map; no node_modules, no package manager of ours, no shell script.
ARG NODE=24-slim

FROM node:${NODE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts/build.ts scripts/
COPY src/ src/
RUN npm run build

FROM node:${NODE}
ENV NODE_ENV=production
WORKDIR /app
# package.json makes the bundle an ES module.
COPY package.json LICENSE ./
COPY --from=build /src/dist/ ./
# By number, so that runAsNonRoot can be checked. Nothing below /app is ever written; /tmp is, for long logs.
USER 65532:65532
EXPOSE 3000 9090
CMD ["node", "main.js"]
