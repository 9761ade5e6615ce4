import type { BatchRun } from '../../core/batch/batch-run.ts';
import { jobOfRun } from '../../core/batch/job-request.ts';
import { toKdebugError } from '../../core/errors.ts';
import {
  exportedAsFileMessage,
  exportedFileMessage,
  exportMessage,
  LONGEST_SHOWN,
} from '../../core/report/batch/manifest-message.ts';
import type { Message } from '../../core/report/message.ts';
import { errorMessage, reasonMessage } from '../../core/report/private-messages.ts';
import type { FlowDeps } from '../deps.ts';
import type { PrivatePlace } from '../ports/slack.ts';

/**
 * The batch as an EphemeralJob, for one person: in a code block, and where that would cut it, as a file in a direct message,
 * which is sent after the answer.
 */
export function exportBatch(run: BatchRun, asker: PrivatePlace, deps: FlowDeps): Message {
  const job = jobOfRun(run);
  if (!job) return reasonMessage('batch_not_exportable');
  const yaml = deps.manifests.write(job);
  if (yaml.length <= LONGEST_SHOWN) return exportMessage(run.id, yaml);
  void sendFile(run, { yaml, asker, deps });
  return exportedAsFileMessage(run.id);
}

interface ToSend {
  readonly yaml: string;
  readonly asker: PrivatePlace;
  readonly deps: FlowDeps;
}

async function sendFile({ id }: BatchRun, { yaml, asker, deps }: ToSend): Promise<void> {
  const { thread, log } = deps;
  try {
    const bytes = Buffer.from(yaml);
    const file = {
      filename: `kdebug-batch-${id}.yaml`,
      title: `Batch ${id} as an EphemeralJob`,
      bytes: bytes.length,
      open: async function* () {
        yield bytes;
      },
    };
    await thread.share(await thread.openDirect(asker.userId), exportedFileMessage(id), [file]);
  } catch (thrown) {
    const error = toKdebugError(thrown);
    log.warn('an exported batch was not sent', { runId: id, reason: error.code });
    await thread.tell(asker, errorMessage(error)).catch(() => undefined);
  }
}
