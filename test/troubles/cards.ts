import type { Judgement } from './judge.ts';
import type { Trouble } from './trouble.ts';

/** Only the end of a program's own words has no room: what must stand there all the same. */
const CUT: Readonly<Record<string, RegExp>> = {
  'crash-all-replicas': /cart-cache:6379/,
  'crash-elasticsearch-map-count': /bootstrap check failure/,
  'crash-go-many-goroutines': /invalid memory address or nil pointer/,
  'crash-java-class-version': /Java is older than the one that the program was compiled for/,
  'crash-language': /Verbindung zur Datenbank lager-db:5432 fehlgeschlagen/,
  'crash-node-refused': /10\.96\.14\.20:5432 refuses connections/,
  'crash-postgres-version': /database files are incompatible with server/,
  'crash-rust': /a permission is denied, exit code 101/,
  'exec-format': /not for the node’s processor/,
  'exec-interpreter': /the program \/app\/start\.sh, or the shell that its first line names, is not in the image/,
  'init-waits': /the name shop-db is not known/,
  'job-failed': /exited with code 1: .*column "vat_rate" .* already exists/,
  'liveness-deadlock': /killed by its liveness probe on HTTP :8080\/healthz/,
  'log-disk-full': /no space is left on a disk, in its log/,
  'log-permission-denied': /a permission is denied, in its log: “mkdir\(\) "\/var\/cache\/avatars/,
  'log-rbac': /the ServiceAccount default in shop may not get leases/,
  'log-read-only': /the file system is read-only, in its log/,
  'rollout-stuck': /web cannot start: its image localhost\/shop-web:2\.0\.0 cannot be pulled/,
  'sidecar-failing': /the sidecar proxy exited with code 1: .*error initializing confi/,
  'waits-for-lock': /readiness probe fails on TCP :8080: connection refused/,
};

/** Whether the first line of a card says what must stand there, or else its first two lines what the trouble's file wants. */
export const isNamedOnCard = ({ name }: Trouble, { isNamed }: Judgement, [first = '']: readonly string[]): boolean =>
  CUT[name]?.test(first) ?? isNamed;
