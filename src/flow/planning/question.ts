import type { Pod } from '../../core/container/pod.ts';
import type { QuestionTarget } from '../../core/lookup/workload-sources.ts';
import type { PlanInputs } from '../../core/planning/plan-request.ts';
import type { TargetProblem } from '../../core/request/target.ts';
import type { AuditSubject } from '../context/audit.ts';

/** The subject of a request that asks what is wrong (`isQuestion`). */
export type Question = (QuestionAboutPod | QuestionAboutWorkload) & {
  /** The reason why the pod of the plan can hold no further container; undefined: it can. */
  readonly problem: TargetProblem | undefined;
};

export interface QuestionAboutPod {
  readonly kind: 'pod';
  readonly pod: Pod;
}

export interface QuestionAboutWorkload {
  readonly kind: 'workload';
  readonly scope: WorkloadInQuestion;
  readonly inputs: QuestionInputs;
}

/** The inputs with which each of its pods is planned. */
export type QuestionInputs = Omit<PlanInputs, 'learnt'>;

/** A question about pods of which there are none: the workload itself is asked about. */
export interface QuestionWithoutPods {
  readonly kind: 'nobody';
  readonly scope: WorkloadInQuestion;
  /** The refusal's subject where nothing is known of the name. */
  readonly subject: string;
}

/** A question about a workload or a selector, and the pods that it has now, the oldest first. */
export interface WorkloadInQuestion {
  readonly target: QuestionTarget;
  readonly namespace: string;
  readonly pods: readonly Pod[];
  readonly reader: LogReader;
}

/** Whose request reads the logs, and where: policy, identity and audit log need both. */
export interface LogReader {
  readonly subject: AuditSubject;
  readonly cluster: string;
}
