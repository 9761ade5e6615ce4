/** Where a checkout's manifests point until a release sets it. */
export const REGISTRY_OF_A_COPY = 'ghcr.io/replaceme';

/** The part of the CHANGELOG under this version's heading. @throws Error when it is missing or empty */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => new RegExp(`^\\[?${version.replaceAll('.', '\\.')}\\b`).test(each));
  const notes = section?.slice(section.indexOf('\n')).trim() ?? '';
  if (notes === '') throw new Error(`CHANGELOG.md has no section "## ${version}", or nothing in it`);
  return notes;
}

/** The part of docs/install.md that installs a release, with its registry. @throws Error when the page has none */
export function installOf(page: string, registry: string): string {
  const section = /^## From a release\n([\s\S]*?)^## /m.exec(page)?.[1]?.trim();
  if (section === undefined) throw new Error('docs/install.md has no section "From a release"');
  const whole = section.replace(`, with \`${REGISTRY_OF_A_COPY}\` as the release's notes write it`, '');
  return `## Install\n\n${whole.replaceAll(REGISTRY_OF_A_COPY, registry)}`;
}

/** A text of the file at `path`, with links to this version on GitHub: it is read where no other file of ours is. */
export function withWholeLinks(
  text: string,
  path: string,
  { repository, version }: Pick<Published, 'repository' | 'version'>,
): string {
  const base = new URL(path, `https://github.com/${repository}/blob/v${version}/`);
  return text.replaceAll(/\]\((?!https?:)([^)\s]+)\)/g, (_, link: string) => `](${new URL(link, base)})`);
}

export interface Published {
  /** OWNER/NAME, as GitHub writes it. */
  readonly repository: string;
  readonly registry: string;
  readonly version: string;
  /** `sha256:…` of each image's index, by the image's name. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * A text of manifests or chart with the published images, by digest, and links to this version of the runbooks.
 * @throws Error when it names an image of ours that has no digest
 */
export function published(text: string, { repository, registry, version, digests }: Published): string {
  const digestOf = (name: string): string => {
    const digest = digests[name] ?? '';
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`"${digest}" is no digest (${name})`);
    return digest;
  };
  const kdebug = digestOf('kdebug');
  return (
    text
      // Kustomize
      .replaceAll(/newName: kdebug\n(\s+)newTag: .+/g, `newName: ${registry}/kdebug\n$1digest: ${kdebug}`)
      // The chart's values
      .replaceAll(/^( +)repository: kdebug$/gm, `$1repository: ${registry}/kdebug`)
      .replaceAll(/^( +)digest: ""$/gm, `$1digest: ${kdebug}`)
      // The policies, in what they show as off too: the tag stays, for people.
      .replaceAll(
        /image: (kdebug-[a-z]+):([\w.-]+)$/gm,
        (_, name: string, tag: string) => `image: ${registry}/${name}:${tag}@${digestOf(name)}`,
      )
      .replaceAll(
        /https:\/\/github\.com\/REPLACEME\/kdebug\/blob\/main\//g,
        `https://github.com/${repository}/blob/v${version}/`,
      )
  );
}
