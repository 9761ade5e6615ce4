/** What a policy of the suite may say besides its rules. */
export interface PolicyWords {
  /** Lines of the key `identity`. */
  readonly identity?: string;
  /** Words of the approval that the rule `ask` wants. */
  readonly approval?: string;
  readonly limits?: string;
  readonly output?: string;
}

/**
 * As an operator would write it. In C0SHOP anybody may look, and asks for more. In C0OPS also what changes the workload needs no
 * approval (rule `poke`), so that only what is elevated can stop a launch there: an attack on that class has its control beside it.
 */
export const policyOf = (words: PolicyWords = {}): string => `version: 1
clusters:
  local: { context: local, default: true }
identity: ${words.identity ?? '{ mode: serviceAccount }'}
approvers:
  sre: { usergroup: S0SRE }
images:
  autodiagnose: { image: "registry.example.com/kdebug/autodiagnose:0.1.0", class: observe, timeout: 1m, diagnostic: true }
  debian: { image: "debian:12-slim", class: observe, command: allowed }
  audit: { image: "registry.example.com/security-audit:1", class: observe }
  debugger: { image: "registry.example.com/debugger:1.4", class: elevated, command: allowed }
  missing: { image: "registry.example.com/no/such:1", class: elevated }
defaultImage: autodiagnose
channels:
  C0SHOP:
    name: "#shop-oncall"
    rules:
      - { id: look, clusters: [local], namespaces: [shop], classes: [observe], profiles: [restricted, baseline, general], batch: { maxPods: 50, maxParallelism: 10 } }
      - &ask
        id: ask
        clusters: [local]
        namespaces: [shop]
        classes: [intrusive, elevated]
        profiles: [restricted, baseline, general, sysadmin]
        batch: { maxPods: 50, maxParallelism: 10 }
        approval: ${words.approval ?? '{ from: [sre], count: 1, expires: 15m, grants: allowed }'}
  C0OPS:
    name: "#ops"
    rules:
      - { id: poke, clusters: [local], namespaces: [shop], classes: [observe, intrusive], profiles: [restricted, baseline, general], batch: { maxPods: 50, maxParallelism: 10 } }
      - *ask
limits: ${words.limits ?? '{ runsPerUserPerMinute: 1000 }'}
output: ${words.output ?? '{ redact: [] }'}
`;

export const SUITE_POLICY = policyOf();
