package io.varve.lua.syntax;

/** The tokens of Lua. A token that is one character is that character's code; others have codes from 257. Stateless. */
final class Token {
    static final int AND = 257;
    static final int BREAK = 258;
    static final int DO = 259;
    static final int ELSE = 260;
    static final int ELSEIF = 261;
    static final int END = 262;
    static final int FALSE = 263;
    static final int FOR = 264;
    static final int FUNCTION = 265;
    static final int IF = 266;
    static final int IN = 267;
    static final int LOCAL = 268;
    static final int NIL = 269;
    static final int NOT = 270;
    static final int OR = 271;
    static final int REPEAT = 272;
    static final int RETURN = 273;
    static final int THEN = 274;
    static final int TRUE = 275;
    static final int UNTIL = 276;
    static final int WHILE = 277;
    static final int CONCAT = 278;
    static final int DOTS = 279;
    static final int EQUAL = 280;
    static final int GREATER_EQUAL = 281;
    static final int LESS_EQUAL = 282;
    static final int NOT_EQUAL = 283;
    static final int NUMBER = 284;
    static final int NAME = 285;
    static final int STRING = 286;
    static final int END_OF_SOURCE = 287;
    private static final String[] TEXTS = {"and", "break", "do", "else", "elseif", "end", "false", "for", "function",
            "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while", "..", "...",
            "==", ">=", "<=", "~=", "<number>", "<name>", "<string>", "<eof>"};
    private static final int RESERVED = WHILE - AND + 1;

    private Token() {}

    /** The token's text for messages. */
    static String text(int token) {
        if (token >= AND) {
            return TEXTS[token - AND];
        }
        boolean control = token < 0x20 || token == 0x7f;
        return control ? "char(" + token + ")" : String.valueOf((char) token);
    }

    /** The token of a reserved word, or {@link #NAME}. */
    static int ofWord(String word) {
        for (int i = 0; i < RESERVED; i++) {
            if (TEXTS[i].equals(word)) {
                return AND + i;
            }
        }
        return NAME;
    }
}
