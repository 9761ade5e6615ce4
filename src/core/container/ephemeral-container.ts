export type ImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface EnvVar {
  readonly name: string;
  readonly value: string;
}

/** The fields of core/v1 SecurityContext that a profile can set; kdebug sends no others. */
export interface SecurityContext {
  readonly privileged?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: 'RuntimeDefault' };
}

/**
 * The part of core/v1 EphemeralContainer that kdebug sends. The type has no port, probe, lifecycle, resource, `envFrom`,
 * `valueFrom`, stdin or tty (KEP-277 forbids most; kdebug needs none).
 */
export interface EphemeralContainer {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: ImagePullPolicy;
  readonly targetContainerName?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly EnvVar[];
  readonly securityContext?: SecurityContext;
  /** Only for a tracer on its way to a second run. */
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  /** `File`: the log is another program's, so no words of it may stand for the container's own. */
  readonly terminationMessagePolicy: 'FallbackToLogsOnError' | 'File';
}
