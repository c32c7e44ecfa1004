package io.varve.lua.syntax;

import java.util.ArrayList;
import java.util.List;

import io.varve.lua.LuaError;
import io.varve.lua.LuaString;

/** Parses statements by recursive descent. Confined to one thread. Expressions have a parser of their own. */
public final class Parser {
    private static final int MAX_LEVELS = 200;
    private static final LuaString SELF = LuaString.known("self");
    private static final LuaString ARG = LuaString.known("arg");
    private static final int BINARY_MARK = 0x1b;
    private final Lexer lexer;
    private final ExpressionParser expressions;
    private FunctionScope scope = new FunctionScope(null, 0);
    private int levels;

    private Parser(Lexer lexer) {
        this.lexer = lexer;
        expressions = new ExpressionParser(this, lexer);
    }

    /**
     * Parses a chunk.
     *
     * @param chunkName as C Lua takes it: see {@link ChunkName#display}
     * @throws LuaError with C Lua's message
     */
    public static FunctionBody parse(byte[] source, String chunkName) {
        String shown = ChunkName.display(chunkName, ChunkName.SYNTAX_ROOM);
        if (source.length > 0 && source[0] == BINARY_MARK) {
            throw new LuaError(
                    ChunkName.display(chunkName, ChunkName.RUNTIME_ROOM) + ": bad header in precompiled chunk");
        }
        Parser parser = new Parser(new Lexer(source, shown));
        return parser.chunk();
    }

    private FunctionBody chunk() {
        scope.varArgs = true;
        scope.usesVarArgs = true;
        lexer.next();
        Block body = block();
        if (lexer.token() != Token.END_OF_SOURCE) {
            throw expected(Token.END_OF_SOURCE);
        }
        return new FunctionBody(List.of(), true, null, false, List.of(), scope.slots(), body, 0);
    }

    FunctionScope scope() {
        return scope;
    }

    // ---- tokens -----------------------------------------------------------------------------------------------------

    LuaError expected(int token) {
        return lexer.syntaxError("'" + Token.text(token) + "' expected");
    }

    boolean skip(int token) {
        if (lexer.token() != token) {
            return false;
        }
        lexer.next();
        return true;
    }

    void require(int token) {
        if (!skip(token)) {
            throw expected(token);
        }
    }

    /** Requires the token that closes another one. */
    void close(int token, int opened, int line) {
        if (skip(token)) {
            return;
        }
        if (line == lexer.line()) {
            throw expected(token);
        }
        throw lexer.syntaxError("'" + Token.text(token) + "' expected (to close '" + Token.text(opened) + "' at line "
                + line + ")");
    }

    LuaString name() {
        if (lexer.token() != Token.NAME) {
            throw expected(Token.NAME);
        }
        LuaString name = lexer.text();
        lexer.next();
        return name;
    }

    void enterLevel() {
        if (++levels > MAX_LEVELS) {
            throw lexer.error("chunk has too many syntax levels", 0);
        }
    }

    void leaveLevel() {
        levels--;
    }

    // ---- blocks and functions ---------------------------------------------------------------------------------------

    private static boolean endsBlock(int token) {
        return token == Token.ELSE || token == Token.ELSEIF || token == Token.END || token == Token.UNTIL
                || token == Token.END_OF_SOURCE;
    }

    /** Statements in the present scope. */
    private Block statements() {
        List<Statement> statements = new ArrayList<>();
        boolean last = false;
        enterLevel();
        while (!last && !endsBlock(lexer.token())) {
            Statement statement = statement();
            statements.add(statement);
            last = statement instanceof Statement.Return || statement instanceof Statement.Break;
            skip(';');
        }
        leaveLevel();
        return new Block(List.copyOf(statements));
    }

    /** Statements in a scope of their own. */
    private Block block() {
        int outer = scope.activeCount();
        Block block = statements();
        scope.leave(outer);
        return block;
    }

    private Block loopBlock() {
        scope.loops++;
        Block block = block();
        scope.loops--;
        return block;
    }

    /** A function from its parameters on. */
    Expression.Function function(boolean hasSelf, int line) {
        scope = new FunctionScope(scope, line);
        FunctionScope own = scope;
        require('(');
        List<LocalVariable> parameters = new ArrayList<>();
        if (hasSelf) {
            parameters.add(scope.declare(SELF, 0, lexer));
        }
        parameters(parameters);
        scope.activate(parameters);
        if (scope.varArgs) {
            LocalVariable arg = scope.declare(ARG, 0, lexer);
            scope.activate(arg);
            scope.argTable = arg;
        }
        require(')');
        Block body = statements();
        close(Token.END, Token.FUNCTION, line);
        FunctionBody function = new FunctionBody(List.copyOf(parameters), own.varArgs, own.argTable,
                own.varArgs && !own.usesVarArgs, own.upvalues(), own.slots(), body, line);
        FunctionScope outer = own.outer;
        if (outer == null) {
            throw new IllegalStateException("a function is within a chunk");
        }
        scope = outer;
        return new Expression.Function(function, lexer.lastLine());
    }

    private void parameters(List<LocalVariable> parameters) {
        if (lexer.token() == ')') {
            return;
        }
        do {
            if (lexer.token() == Token.NAME) {
                parameters.add(scope.declare(name(), parameters.size(), lexer));
            } else if (lexer.token() == Token.DOTS) {
                lexer.next();
                scope.varArgs = true;
            } else {
                throw lexer.syntaxError("<name> or '...' expected");
            }
        } while (!scope.varArgs && skip(','));
    }

    // ---- statements -------------------------------------------------------------------------------------------------

    private Statement statement() {
        int line = lexer.line();
        return switch (lexer.token()) {
            case Token.IF -> ifStatement(line);
            case Token.WHILE -> {
                lexer.next();
                Expression condition = expressions.expression();
                require(Token.DO);
                Block body = loopBlock();
                close(Token.END, Token.WHILE, line);
                yield new Statement.While(condition, body, line);
            }
            case Token.DO -> {
                lexer.next();
                Block body = block();
                close(Token.END, Token.DO, line);
                yield new Statement.Do(body, line);
            }
            case Token.FOR -> forStatement(line);
            case Token.REPEAT -> repeat(line);
            case Token.FUNCTION -> namedFunction(line);
            case Token.LOCAL -> {
                lexer.next();
                yield skip(Token.FUNCTION) ? localFunction(line) : localDeclaration();
            }
            case Token.RETURN -> {
                lexer.next();
                boolean empty = endsBlock(lexer.token()) || lexer.token() == ';';
                List<Expression> values = empty ? List.of() : expressions.list();
                yield new Statement.Return(values, lexer.lastLine());
            }
            case Token.BREAK -> {
                lexer.next();
                if (scope.loops == 0) {
                    throw lexer.syntaxError("no loop to break");
                }
                yield new Statement.Break(line);
            }
            default -> expressionStatement();
        };
    }

    private Statement ifStatement(int line) {
        List<Statement.Clause> clauses = new ArrayList<>();
        Block otherwise = null;
        do {
            lexer.next();
            Expression condition = expressions.expression();
            require(Token.THEN);
            clauses.add(new Statement.Clause(condition, block()));
        } while (lexer.token() == Token.ELSEIF);
        if (skip(Token.ELSE)) {
            otherwise = block();
        }
        close(Token.END, Token.IF, line);
        return new Statement.If(List.copyOf(clauses), otherwise, line);
    }

    private Statement repeat(int line) {
        lexer.next();
        int outer = scope.activeCount();
        scope.loops++;
        Block body = statements();
        close(Token.UNTIL, Token.REPEAT, line);
        Expression condition = expressions.expression();
        scope.loops--;
        scope.leave(outer);
        return new Statement.Repeat(body, condition, line);
    }

    private Statement forStatement(int line) {
        lexer.next();
        LuaString name = name();
        int outer = scope.activeCount();
        Statement statement = switch (lexer.token()) {
            case '=' -> numericFor(name);
            case ',', Token.IN -> genericFor(name);
            default -> throw lexer.syntaxError("'=' or 'in' expected");
        };
        close(Token.END, Token.FOR, line);
        scope.leave(outer);
        return statement;
    }

    private void hidden(String... names) {
        List<LocalVariable> variables = new ArrayList<>();
        for (String name : names) {
            variables.add(scope.declare(LuaString.known(name), variables.size(), lexer));
        }
        scope.activate(variables);
    }

    private Statement numericFor(LuaString name) {
        lexer.next();
        Expression first = expressions.expression();
        require(',');
        Expression limit = expressions.expression();
        Expression step = skip(',') ? expressions.expression() : null;
        hidden("(for index)", "(for limit)", "(for step)");
        require(Token.DO);
        int prepared = lexer.lastLine();
        LocalVariable variable = scope.declare(name, 0, lexer);
        scope.activate(variable);
        Block body = loopBlock();
        return new Statement.NumericFor(variable, first, limit, step, body, prepared);
    }

    private Statement genericFor(LuaString name) {
        List<LuaString> names = new ArrayList<>(List.of(name));
        while (skip(',')) {
            names.add(name());
        }
        require(Token.IN);
        int valuesLine = lexer.line();
        List<Expression> values = expressions.list();
        int base = scope.activeCount();
        hidden("(for generator)", "(for state)", "(for control)");
        require(Token.DO);
        List<LocalVariable> variables = new ArrayList<>();
        for (LuaString each : names) {
            variables.add(scope.declare(each, variables.size(), lexer));
        }
        scope.activate(variables);
        Block body = loopBlock();
        return new Statement.GenericFor(base, List.copyOf(variables), values, body, valuesLine);
    }

    private Statement namedFunction(int line) {
        lexer.next();
        int nameLine = lexer.line();
        Expression target = scope.resolve(name(), nameLine, lexer);
        boolean hasSelf = false;
        while (lexer.token() == '.' || lexer.token() == ':') {
            hasSelf = lexer.token() == ':';
            lexer.next();
            Expression key = new Expression.Constant(name(), lexer.lastLine());
            target = new Expression.Index(target, key, lexer.lastLine());
            if (hasSelf) {
                break;
            }
        }
        Expression function = function(hasSelf, line);
        markAssigned(target);
        return new Statement.Assignment(List.of(target), List.of(function), line);
    }

    private Statement localFunction(int line) {
        LocalVariable variable = scope.declare(name(), 0, lexer);
        scope.activate(variable);
        return new Statement.LocalFunction(variable, function(false, lexer.line()), line);
    }

    private Statement localDeclaration() {
        List<LocalVariable> variables = new ArrayList<>();
        do {
            variables.add(scope.declare(name(), variables.size(), lexer));
        } while (skip(','));
        List<Expression> values = skip('=') ? expressions.list() : List.of();
        scope.activate(variables);
        return new Statement.LocalDeclaration(List.copyOf(variables), values, lexer.lastLine());
    }

    private Statement expressionStatement() {
        Expression first = expressions.primary();
        if (first instanceof Expression.Call || first instanceof Expression.MethodCall) {
            return new Statement.CallStatement(first, first.line());
        }
        List<Expression> targets = new ArrayList<>(List.of(target(first)));
        while (skip(',')) {
            targets.add(target(expressions.primary()));
            if (targets.size() > MAX_LEVELS - levels) {
                throw scope.limit(MAX_LEVELS - levels, "variables in assignment", lexer);
            }
        }
        require('=');
        List<Expression> values = expressions.list();
        return new Statement.Assignment(List.copyOf(targets), values, lexer.lastLine());
    }

    private Expression target(Expression expression) {
        if (expression instanceof Expression.Local || expression instanceof Expression.Upvalue
                || expression instanceof Expression.Global || expression instanceof Expression.Index) {
            markAssigned(expression);
            return expression;
        }
        throw lexer.syntaxError("syntax error");
    }

    private static void markAssigned(Expression target) {
        if (target instanceof Expression.Local(LocalVariable variable, int ignored)) {
            variable.assign();
        } else if (target instanceof Expression.Upvalue upvalue) {
            upvalue.variable().assign();
        }
    }
}
