/** Every type that a public signature names can be imported from the package. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));

/** Names of our own types in the signatures of what the package exports, and whether they are exported, too. */
function namedTypes(): ReadonlyMap<string, boolean> {
  const config = ts.readConfigFile(`${root}tsconfig.test.json`, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const program = ts.createProgram([index], options);
  const checker = program.getTypeChecker();
  const real = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const module = checker.getSymbolAtLocation(program.getSourceFile(index)!); // it was asked for by this name
  const exported = new Set(checker.getExportsOfModule(module!).map(real)); // it has exports, hence a symbol
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
    if (isOurs) found.set(symbol.name, exported.has(symbol));
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
    'ReceiveFlow',
    'ServerStatus',
    'StandardSchemaV1',
  ]) {
    expect([known, types.get(known)]).toEqual([known, true]); // the search does find them
  }
  expect([...types].filter(([, isExported]) => !isExported)).toEqual([]);
});
