import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/core/container/pod.ts';
import type { WorkloadFact } from '../../../../src/core/diagnosis/facts/facts.ts';
import { changeWords } from '../../../../src/core/diagnosis/reading/last-change.ts';
import { aPod, START_MS } from '../../../support/builders.ts';

const MINUTE_MS = 60_000;
const at = (ms: number) => new Date(START_MS + ms).toISOString();

const workload = (
  manager: string,
  marks: WorkloadFact['marks'] = {},
  { minutes = 12, createdMinutes = 9_999 } = {},
): WorkloadFact => ({
  kind: 'deployment',
  name: 'web',
  uid: 'u',
  ready: 1,
  conditions: [],
  createdAtMs: START_MS - createdMinutes * MINUTE_MS,
  lastChange: { atMs: START_MS - minutes * MINUTE_MS, manager },
  marks,
});

const wordsOf = (fact: WorkloadFact | undefined, pods: readonly Pod[] = [], isAnyWrong = false) =>
  changeWords(fact, pods, { nowMs: START_MS, isAnyWrong });

const by = (manager: string, marks?: WorkloadFact['marks']) =>
  wordsOf(workload(manager, marks))?.replace('Deployment changed 12 min ago', '…');

const ARGO = { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web' };
const RELEASE = { 'helm.toolkit.fluxcd.io/name': 'web', 'helm.toolkit.fluxcd.io/namespace': 'shop' };
const HELM = { 'app.kubernetes.io/managed-by': 'Helm', 'meta.helm.sh/release-name': 'web' };

describe('the last change of a workload', () => {
  it('has its age, and who made it, by the name that the tool gives itself and its marks', () => {
    expect(wordsOf(workload('argocd-controller', ARGO))).toBe(
      'Deployment changed 12 min ago by Argo CD (application shop)',
    );
    expect(by('argocd-application-controller')).toBe('… by Argo CD');
    expect(by('helm-controller', { ...RELEASE, ...HELM })).toBe('… by Flux (HelmRelease shop/web)');
    expect(by('kustomize-controller', { 'kustomize.toolkit.fluxcd.io/name': 'apps' })).toBe(
      '… by Flux (Kustomization apps)',
    );
    expect(by('helm', HELM)).toBe('… by Helm (release web)');
    expect(by('kubectl-client-side-apply')).toBe('… by kubectl');
    expect(by('Reloader')).toBe('… by Reloader');
    expect(by('')).toBe('…');
  });

  it('names the tool that keeps it, where kubectl came between', () => {
    expect(by('kubectl-edit', { ...ARGO, ...HELM })).toBe('… by kubectl, although Argo CD (application shop) keeps it');
    expect(by('kubectl-patch', { ...RELEASE, ...HELM })).toBe(
      '… by kubectl, although Flux (HelmRelease shop/web) keeps it',
    );
    expect(by('kubectl-set', HELM)).toBe('… by kubectl, although Helm (release web) keeps it');
  });

  it('has the revision that kubectl counts, and the version of its label, of a commit the first letters', () => {
    const marks = {
      'deployment.kubernetes.io/revision': '14',
      'app.kubernetes.io/version': '4f2d9c1aa2f8f0c7d3b7d0b1e9a65f0c1d2e3f40',
    };
    expect(by('helm', marks)).toBe('… by Helm, revision 14, version 4f2d9c1');
    expect(by('helm', { 'deployment.kubernetes.io/revision': 'none', 'app.kubernetes.io/version': '1.4.2' })).toBe(
      '… by Helm, version 1.4.2',
    );
  });

  it('is a creation where it is as old as the workload', () => {
    expect(wordsOf(workload('helm', {}, { createdMinutes: 12 }))).toBe('Deployment created 12 min ago by Helm');
  });

  it('is told for an hour, and later where the pods stopped being ready within an hour of it', () => {
    expect(wordsOf(workload('helm', {}, { minutes: 60 }))).toContain('1 h ago');
    const old = workload('helm', {}, { minutes: 61 });
    expect(wordsOf(old)).toBeUndefined();
    const unready = (minutes: number) =>
      aPod({
        status: {
          unmetConditions: [{ type: 'Ready', reason: '', message: '', since: at(-minutes * MINUTE_MS) }],
        },
      });
    expect(wordsOf(old, [unready(5), unready(60)], true)).toBe('Deployment changed 1 h 1 min ago by Helm');
    expect(wordsOf(old, [unready(60)])).toBeUndefined();
    expect(wordsOf(old, [unready(62)], true)).toBeUndefined();
    expect(wordsOf(workload('helm', {}, { minutes: 121 }), [unready(60)], true)).toBeUndefined();
  });

  it('is unknown where nobody says it', () => {
    const { lastChange: _, ...silent } = workload('helm');
    expect(wordsOf(silent)).toBeUndefined();
    expect(wordsOf(undefined, [aPod()])).toBeUndefined();
  });

  it('holds foreign words clean, bounded and without secrets', () => {
    expect(by('\u001b[31mred\n*bold*')).toBe('… by red *bold*');
    expect(by('m'.repeat(128))?.length).toBeLessThan(80);
    expect(by('helm', { 'meta.helm.sh/release-name': 'AKIAIOSFODNN7EXAMPLE' })).not.toContain('AKIA');
  });
});

describe('a restart of all pods', () => {
  const restarted = (time: string) =>
    aPod({
      metadata: {
        annotations: { 'kubectl.kubernetes.io/restartedAt': time },
        labels: { 'pod-template-hash': '5d9' },
        ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5d9', controller: true }],
      },
    });

  it('is known from the pods alone', () => {
    expect(wordsOf(undefined, [restarted(at(-3 * MINUTE_MS))])).toBe('Deployment restarted 3 min ago');
  });

  it('has its maker where the workload says so, and is none where the template changed since', () => {
    const pods = [restarted(at(-12 * MINUTE_MS + 2_000))];
    expect(wordsOf(workload('kubectl-rollout'), pods)).toBe('Deployment restarted 11 min ago by kubectl');
    expect(wordsOf(workload('helm', {}, { minutes: 5 }), pods)).toBe('Deployment changed 5 min ago by Helm');
  });

  it.each(['', 'soon', at(MINUTE_MS)])('is none at %o', (time) => {
    expect(wordsOf(undefined, [restarted(time)])).toBeUndefined();
  });
});
