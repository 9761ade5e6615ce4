/** A shorter secret of a source of alerts can be guessed. */
export const MIN_SECRET_LENGTH = 16;

export const isUsableSecret = (secret: string | undefined): secret is string =>
  secret !== undefined && secret.length >= MIN_SECRET_LENGTH;
