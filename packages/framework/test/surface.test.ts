/** Every type that a public signature names can be imported from the package. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));
/** What a store has to be is the concern of those who write one, and has an entry of its own. */
const storeContract = `${root}packages/kernel/src/location/index.ts`;

/**
 * Names of our own types in the signatures of what the package exports, and whether they are exported, too: by the
 * package or, for what only a store's methods name, by the stores' own entry.
 */
function namedTypes(): ReadonlyMap<string, boolean> {
  const config = ts.readConfigFile(`${root}tsconfig.test.json`, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const program = ts.createProgram([index, storeContract], options);
  const checker = program.getTypeChecker();
  const real = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const exportsOf = (path: string): ts.Symbol[] => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path)!); // it was asked for by this name
    return checker.getExportsOfModule(module!).map(real); // it has exports, hence a symbol
  };
  const exported = new Set(exportsOf(index));
  const known = new Set([...exported, ...exportsOf(storeContract)]);
  const found = new Map<string, boolean>();

  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name))) {
      return; // no part of a signature
    }
    const name = nameIn(node);
    const symbol = name === undefined ? undefined : checker.getSymbolAtLocation(name);
    if (symbol !== undefined) note(real(symbol));
    ts.forEachChild(node, visit);
  };
  const note = (symbol: ts.Symbol): void => {
    const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
    const isOurs = file.startsWith(`${root}packages/`) && (symbol.flags & ts.SymbolFlags.TypeParameter) === 0;
    if (isOurs) found.set(symbol.name, known.has(symbol));
  };
  for (const symbol of exported) for (const declaration of symbol.declarations ?? []) visit(declaration);
  return found;
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  if (ts.isTypeQueryNode(node)) return node.exprName;
  return ts.isExpressionWithTypeArguments(node) ? node.expression : undefined;
}

test('[HOSTREG-005] every type in a public signature is exported', () => {
  const types = namedTypes();
  for (const known of [
    'CurveSecurity',
    'HostState',
    'ListenerStatus',
    'LocationStore',
    'MemoryStoreBackend',
    'StoreBatch',
    'ReceiveFlow',
    'ServerStatus',
    'StandardSchemaV1',
  ]) {
    expect([known, types.get(known)]).toEqual([known, true]); // the search does find them
  }
  expect([...types].filter(([, isExported]) => !isExported)).toEqual([]);
});
