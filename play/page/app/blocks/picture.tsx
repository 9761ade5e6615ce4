import type { ReactNode } from 'react';
import { usePlay } from '../context.ts';
import { type Json, objectOf, stringOf } from '../json.ts';
import { Link } from './span.tsx';

/** A picture of this workspace; one from elsewhere is not fetched, only named and linked: the page loads nothing from outside. */
export function Picture({ of, large = false }: { readonly of: Json; readonly large?: boolean }): ReactNode {
  const { server } = usePlay();
  const alt = stringOf(of.alt_text);
  const file = stringOf(objectOf(of.slack_file).id);
  const address = stringOf(of.image_url);
  const source = file === '' ? ownPicture(address) : server.fileUrl(file);
  const title = stringOf(objectOf(of.title).text);
  if (source === undefined) {
    return (
      <span className="picture-away">
        🖼 <Link address={address}>{alt || address}</Link>
      </span>
    );
  }
  return (
    <figure className={large ? 'picture picture-large' : 'picture'}>
      {title !== '' && <figcaption>{title}</figcaption>}
      <img src={source} alt={alt} loading="lazy" />
    </figure>
  );
}

const ownPicture = (address: string): string | undefined =>
  /^data:image\/(?:png|gif|jpeg|webp);base64,/.test(address) ? address : undefined;
