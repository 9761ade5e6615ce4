export const FILE_KINDS = ['text', 'profile', 'capture', 'heap'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Whether files of this kind may hold secrets that nothing can redact. */
export const isSecretKind = (kind: FileKind): boolean => kind === 'capture' || kind === 'heap';
