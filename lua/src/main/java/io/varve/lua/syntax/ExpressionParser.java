package io.varve.lua.syntax;

import java.util.ArrayList;
import java.util.List;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;
import org.jspecify.annotations.Nullable;

/** Parses expressions. Confined to its {@link Parser}. */
final class ExpressionParser {
    private final Parser parser;
    private final Lexer lexer;

    ExpressionParser(Parser parser, Lexer lexer) {
        this.parser = parser;
        this.lexer = lexer;
    }

    Expression expression() {
        return operators(0);
    }

    /** One expression or more. */
    List<Expression> list() {
        List<Expression> values = new ArrayList<>();
        do {
            values.add(expression());
        } while (parser.skip(','));
        return List.copyOf(values);
    }

    /** Operands with operators of a higher priority than a limit. */
    private Expression operators(int limit) {
        parser.enterLevel();
        Expression left;
        UnaryOperator unary = unaryOperator();
        if (unary != null) {
            lexer.next();
            Expression operand = operators(BinaryOperator.UNARY_PRIORITY);
            left = new Expression.Unary(unary, operand, lexer.lastLine());
        } else {
            left = simple();
        }
        BinaryOperator operator = BinaryOperator.of(lexer.token());
        while (operator != null && operator.left() > limit) {
            lexer.next();
            Expression right = operators(operator.right());
            left = new Expression.Binary(operator, left, right, lexer.lastLine());
            operator = BinaryOperator.of(lexer.token());
        }
        parser.leaveLevel();
        return left;
    }

    private @Nullable UnaryOperator unaryOperator() {
        return switch (lexer.token()) {
            case Token.NOT -> UnaryOperator.NOT;
            case '-' -> UnaryOperator.NEGATE;
            case '#' -> UnaryOperator.LENGTH;
            default -> null;
        };
    }

    private Expression simple() {
        int line = lexer.line();
        return switch (lexer.token()) {
            case Token.NUMBER -> constant(LuaNumber.box(lexer.number()));
            case Token.STRING -> constant(lexer.text());
            case Token.NIL -> constant(null);
            case Token.TRUE -> constant(true);
            case Token.FALSE -> constant(false);
            case Token.DOTS -> {
                if (!parser.scope().varArgs) {
                    throw lexer.syntaxError("cannot use '...' outside a vararg function");
                }
                parser.scope().usesVarArgs = true;
                lexer.next();
                yield new Expression.VarArgs(line);
            }
            case '{' -> table();
            case Token.FUNCTION -> {
                lexer.next();
                yield parser.function(false, line);
            }
            default -> primary();
        };
    }

    private Expression constant(@Nullable Object value) {
        lexer.next();
        return new Expression.Constant(value, lexer.lastLine());
    }

    /** A variable or an expression in parentheses, with fields and calls. */
    Expression primary() {
        Expression left = prefix();
        while (true) {
            switch (lexer.token()) {
                case '.' -> {
                    lexer.next();
                    LuaString name = parser.name();
                    left = new Expression.Index(left, new Expression.Constant(name, lexer.lastLine()),
                            lexer.lastLine());
                }
                case '[' -> {
                    lexer.next();
                    Expression key = expression();
                    parser.require(']');
                    left = new Expression.Index(left, key, lexer.lastLine());
                }
                case ':' -> {
                    lexer.next();
                    LuaString name = parser.name();
                    int line = lexer.line();
                    left = new Expression.MethodCall(left, name, arguments(), line);
                }
                case '(', '{', Token.STRING -> {
                    int line = lexer.line();
                    left = new Expression.Call(left, arguments(), line);
                }
                default -> {
                    return left;
                }
            }
        }
    }

    private Expression prefix() {
        int line = lexer.line();
        if (lexer.token() == Token.NAME) {
            LuaString name = parser.name();
            return parser.scope().resolve(name, lexer.lastLine(), lexer);
        }
        if (lexer.token() == '(') {
            lexer.next();
            Expression inner = expression();
            parser.close(')', '(', line);
            return new Expression.Parenthesized(inner, lexer.lastLine());
        }
        throw lexer.syntaxError("unexpected symbol");
    }

    private List<Expression> arguments() {
        int line = lexer.line();
        return switch (lexer.token()) {
            case '(' -> {
                if (line != lexer.lastLine()) {
                    throw lexer.syntaxError("ambiguous syntax (function call x new statement)");
                }
                lexer.next();
                List<Expression> values = lexer.token() == ')' ? List.of() : list();
                parser.close(')', '(', line);
                yield values;
            }
            case '{' -> List.of(table());
            case Token.STRING -> List.of(constant(lexer.text()));
            default -> throw lexer.syntaxError("function arguments expected");
        };
    }

    private Expression table() {
        int line = lexer.line();
        List<Expression.Field> fields = new ArrayList<>();
        parser.require('{');
        while (lexer.token() != '}') {
            fields.add(field());
            if (!parser.skip(',') && !parser.skip(';')) {
                break;
            }
        }
        parser.close('}', '{', line);
        return new Expression.TableConstructor(List.copyOf(fields), line);
    }

    private Expression.Field field() {
        if (lexer.token() == '[') {
            lexer.next();
            Expression key = expression();
            parser.require(']');
            parser.require('=');
            return new Expression.Field(key, expression(), lexer.lastLine());
        }
        if (lexer.token() == Token.NAME && lexer.peek() == '=') {
            Expression key = new Expression.Constant(parser.name(), lexer.lastLine());
            lexer.next();
            return new Expression.Field(key, expression(), lexer.lastLine());
        }
        return new Expression.Field(null, expression(), lexer.lastLine());
    }
}
