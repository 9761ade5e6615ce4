import { type ReactNode, useEffect, useState } from 'react';
import type { PageFile } from '../../contract.ts';
import { usePlay, useWorld } from '../context.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Scroller } from '../parts/scroller.tsx';

const FIRST_LINES = 6;

/** `512 B`, `1.4 kB`, `12 MB`. */
function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** A file of a message: what it is, its first lines, and the way to all of it. */
export function FileCard({ id }: { readonly id: string }): ReactNode {
  const file = useWorld(({ files }) => files.get(id));
  const { server } = usePlay();
  const [open, setOpen] = useState(false);
  const preview = usePreview(file);
  if (file === undefined) return <p className="tombstone">A file that is no longer here.</p>;
  const title = file.title || file.name;
  const lines = preview?.split('\n') ?? [];
  return (
    <section className="file" aria-label={`File ${title}`}>
      <header className="file-head">
        <Icon name="file" />
        <span className="file-names">
          <strong>{title}</strong>
          <small>
            {file.snippetType ?? 'File'} · {sizeOf(file.size)}
          </small>
        </span>
        <span className="file-deeds">
          <button
            type="button"
            className="button button-small"
            onClick={() => setOpen(true)}
            disabled={preview === undefined}
          >
            View
          </button>
          <a className="button button-small" href={server.fileUrl(id)} download={file.name}>
            Download
          </a>
        </span>
      </header>
      {lines.length > 0 && <pre className="file-lines">{lines.slice(0, FIRST_LINES).join('\n')}</pre>}
      {open && (
        <Dialog title={title} wide onClose={() => setOpen(false)}>
          <Scroller as="pre" label="Text of the file">
            {preview}
          </Scroller>
          {file.size > 16_384 && <p className="small">The first 16 KiB; the download has all of it.</p>}
        </Dialog>
      )}
    </section>
  );
}

/** The beginning of a file, once it has arrived whole. */
function usePreview(file: PageFile | undefined): string | undefined {
  const { server } = usePlay();
  const [preview, setPreview] = useState<string>();
  const id = file?.state === 'complete' ? file.id : undefined;
  useEffect(() => {
    if (id === undefined) return;
    const gone = new AbortController();
    fetch(server.fileUrl(id, true), { signal: gone.signal })
      .then(async (response) => {
        if (response.ok) setPreview(await response.text());
      })
      .catch(() => undefined);
    return () => gone.abort();
  }, [id, server]);
  return preview;
}
