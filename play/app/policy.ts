/** Where the catalogue's images are on the cluster at hand. */
export interface PlayImages {
  readonly autodiagnose: string;
  readonly debian: string;
  readonly debugger: string;
}

const LOCAL_IMAGES: PlayImages = {
  autodiagnose: 'registry.example.com/kdebug/autodiagnose:0.1.0',
  debian: 'debian:12-slim',
  debugger: 'registry.example.com/debugger:1.4',
};

/** The policy of play: a shop whose on-call channel may look, and must ask for more. */
export const playPolicy = (context: string, images: PlayImages = LOCAL_IMAGES): string => `version: 1
clusters:
  play: { context: ${JSON.stringify(context)}, default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  autodiagnose: { image: ${JSON.stringify(images.autodiagnose)}, class: observe, timeout: 1m }
  debian: { image: ${JSON.stringify(images.debian)}, class: observe, command: allowed }
  debugger: { image: ${JSON.stringify(images.debugger)}, class: elevated, command: allowed }
defaultImage: autodiagnose
channels:
  C0SHOP:
    name: "#shop-oncall"
    rules:
      - { id: look, clusters: [play], namespaces: [shop, vault, default], classes: [observe], profiles: [restricted, baseline, general] }
      - id: attach
        clusters: [play]
        namespaces: [shop]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m, reason: required }
`;
