import { stringify } from 'yaml';
import { type EphemeralJob, JOB_API_VERSION } from '../../core/job/ephemeral-job.ts';

/**
 * The job as YAML: `parseEphemeralJob` gives it back, and so does a reader of YAML 1.1, as kubectl's is (`yes` is quoted).
 */
export const exportYaml = (job: EphemeralJob): string =>
  stringify(
    { apiVersion: JOB_API_VERSION, kind: 'EphemeralJob', ...job },
    {
      compat: 'yaml-1.1',
      lineWidth: 0,
      // Equal parts of two containers are written twice: the reader takes no aliases.
      aliasDuplicateObjects: false,
    },
  );
