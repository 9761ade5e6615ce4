# What the image holds: Node, and what `npm run build` writes. No shell, no package manager, no node_modules.
# The bases are named by the digest of their index, which has one image for each platform; a tag alone can be moved.

# On the platform that builds: what comes out is JavaScript, the same for all.
FROM --platform=$BUILDPLATFORM node:24.21.0-trixie-slim@sha256:173f125896c3b47ddf056734c7ea789d04595a6a08769a8f78e0df642781fb66 AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# Without the workspaces: the program needs nothing of them, and their folders are not here.
RUN ["npm", "ci", "--ignore-scripts", "--workspaces=false"]
COPY tsconfig.json LICENSE ./
COPY scripts/build.ts scripts/third-party.ts scripts/
COPY src/ src/
# The same time and rights for every file, whoever builds it when and under which umask (docs/operations.md, "Hardening").
ARG SOURCE_DATE_EPOCH=0
RUN npm run build && chmod -R u=rwX,go=rX dist && find dist -exec touch -d "@$SOURCE_DATE_EPOCH" {} +

FROM gcr.io/distroless/nodejs24-debian13:nonroot@sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e
ARG REVISION=unknown
LABEL org.opencontainers.image.title="kdebug" \
      org.opencontainers.image.description="Debug running Kubernetes pods from Slack: ephemeral containers with policy, approval and a result in the thread." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="gcr.io/distroless/nodejs24-debian13:nonroot" \
      org.opencontainers.image.base.digest="sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e"
# So that `kubectl exec … -- node cli.js lint-policy` and the preStop pause of manifests/components/several find Node.
ENV NODE_ENV=production PATH=/nodejs/bin KDEBUG_REVISION=$REVISION
WORKDIR /app
COPY --from=build /src/dist/ ./
# By number, so that runAsNonRoot can be checked. Root owns the files; only /tmp is ever written, for long logs.
USER 65532:65532
EXPOSE 3000 9090
ENTRYPOINT ["/nodejs/bin/node"]
CMD ["main.js"]
