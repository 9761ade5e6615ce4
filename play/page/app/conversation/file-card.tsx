import { type ReactNode, useEffect, useState } from 'react';
import { isPicture, type PageFile } from '../../contract.ts';
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

const wordsOf = ({ name, title, altText }: PageFile): { readonly title: string; readonly alt: string } => ({
  title: title || name,
  alt: altText ?? (title || name),
});

/** A file of a message: what it is, its first lines, and the way to all of it. */
export function FileCard({ id }: { readonly id: string }): ReactNode {
  const file = useWorld(({ files }) => files.get(id));
  const { server } = usePlay();
  const [open, setOpen] = useState(false);
  const preview = usePreview(file);
  if (file === undefined) return <p className="tombstone">A file that is no longer here.</p>;
  const { title, alt } = wordsOf(file);
  const picture = isPicture(file) && file.state === 'complete' ? server.fileUrl(id, 'picture') : undefined;
  const lines = picture === undefined ? (preview?.split('\n') ?? []) : [];
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
      {picture !== undefined && <img className="file-picture" src={picture} alt={alt} />}
      {lines.length > 0 && <pre className="file-lines">{lines.slice(0, FIRST_LINES).join('\n')}</pre>}
      {open && (
        <Dialog title={title} wide onClose={() => setOpen(false)}>
          {picture === undefined ? (
            <FileText file={file} text={preview} />
          ) : (
            <LargePicture source={picture} alt={alt} />
          )}
        </Dialog>
      )}
    </section>
  );
}

function FileText({ file, text }: { readonly file: PageFile; readonly text: string | undefined }): ReactNode {
  return (
    <>
      <Scroller as="pre" label="Text of the file">
        {text}
      </Scroller>
      {file.size > 16_384 && <p className="small">The first 16 KiB; the download has all of it.</p>}
    </>
  );
}

/** At its own size, so that its words can be read; only ever an `<img>`, in which nothing runs. */
function LargePicture({ source, alt }: { readonly source: string; readonly alt: string }): ReactNode {
  return (
    <Scroller label="Picture">
      <img className="file-picture-large" src={source} alt={alt} />
    </Scroller>
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
    fetch(server.fileUrl(id, 'preview'), { signal: gone.signal })
      .then(async (response) => {
        if (response.ok) setPreview(await response.text());
      })
      .catch(() => undefined);
    return () => gone.abort();
  }, [id, server]);
  return preview;
}
