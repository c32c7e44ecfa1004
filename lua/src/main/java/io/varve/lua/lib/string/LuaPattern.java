package io.varve.lua.lib.string;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.text.NumberParser;

/**
 * Matches one pattern of Lua against one string. Confined to the thread of its state.
 * <p>
 * The matcher backtracks over a stack of its own, so that no pattern can overflow the thread's stack. It counts its
 * steps, so that the state's watch can stop a pattern that takes exponential time. As in C Lua the pattern ends at its
 * first zero byte.
 */
// Cases that return and cases that go on are mixed, as in the formats that they read.
@SuppressWarnings("StatementSwitchToExpressionSwitch")
final class LuaPattern {
    /** The most captures. */
    static final int MAX_CAPTURES = 32;

    /** Choices that a match may have to take back. C Lua's stack overflows before. */
    private static final int MAX_CHOICES = 65_536;
    /** Steps between two ticks of the state. */
    private static final int STEPS_PER_TICK = 64;
    private static final int UNFINISHED = -1;
    private static final int POSITION = -2;
    private static final int ESCAPE = '%';
    private static final int FAILED = -1;

    /** The kinds of a choice; each choice has four numbers on the stack. */
    private static final int OPTIONAL = 0;
    private static final int LONGEST = 1;
    private static final int SHORTEST = 2;
    private static final int OPENED = 3;
    private static final int CLOSED = 4;
    private static final int CHOICE_SIZE = 4;
    private static final int[] NONE = new int[0];

    private final LuaState lua;
    /** The call that matches: errors have its position. */
    private final Arguments arguments;
    private final byte[] source;
    private final byte[] pattern;
    private final int patternStart;
    private int[] starts = NONE;
    private int[] lengths = NONE;
    private int level;
    private int[] choices = NONE;
    private int choiceCount;
    private int steps;

    // The place of the match: set by a step, read by the next one.
    private int sourceAt;
    private int patternAt;

    /** A matcher of the pattern that begins at {@code patternStart}, after a {@code ^}. */
    LuaPattern(LuaState lua, Arguments arguments, LuaString source, LuaString pattern, int patternStart) {
        this.lua = lua;
        this.arguments = arguments;
        this.source = source.array();
        this.pattern = pattern.array();
        this.patternStart = patternStart;
    }

    /** Whether a pattern has no special characters, so that it is a plain text. */
    static boolean isPlain(byte[] pattern) {
        for (byte b : pattern) {
            switch (b) {
                case 0 :
                    return true;
                case '^', '$', '*', '+', '?', '.', '(', '[', '%', '-' :
                    return false;
                default :
            }
        }
        return true;
    }

    /** The number of captures of the last match. */
    int captures() {
        return level;
    }

    /**
     * The value of a capture: a text or a position. Capture 0 of a pattern without captures is the whole match.
     *
     * @param from
     *            where the match begins
     * @param to
     *            where it ends
     */
    Object capture(int capture, int from, int to) {
        if (capture >= level) {
            if (capture != 0) {
                throw arguments.error("invalid capture index");
            }
            return text(from, to - from);
        }
        int length = lengths[capture];
        if (length == UNFINISHED) {
            throw arguments.error("unfinished capture");
        }
        return length == POSITION ? LuaNumber.box(starts[capture] + 1) : text(starts[capture], length);
    }

    private LuaString text(int start, int length) {
        if (length > 1) {
            lua.chargeString(length);
        }
        return LuaString.copyOf(source, start, length);
    }

    /** The end of the match that begins at an index of the source, or -1. */
    int match(int from) {
        level = 0;
        choiceCount = 0;
        sourceAt = from;
        patternAt = patternStart;
        while (true) {
            count(1);
            int p = patternAt;
            boolean goesOn;
            switch (pattern(p)) {
                case 0 :
                    return sourceAt;
                case '(' :
                    goesOn = open(p);
                    break;
                case ')' :
                    goesOn = close();
                    break;
                case ESCAPE :
                    goesOn = escaped(p);
                    break;
                case '$' :
                    if (pattern(p + 1) == 0) {
                        patternAt = p + 1;
                        goesOn = sourceAt == source.length;
                    } else {
                        goesOn = item(p);
                    }
                    break;
                default :
                    goesOn = item(p);
            }
            if (!goesOn && !resume()) {
                return FAILED;
            }
        }
    }

    private int pattern(int at) {
        return at < pattern.length ? pattern[at] & 0xff : 0;
    }

    private int source(int at) {
        return at < source.length ? source[at] & 0xff : 0;
    }

    private void count(int more) {
        steps += more;
        if (steps >= STEPS_PER_TICK) {
            lua.tick(steps / STEPS_PER_TICK);
            steps %= STEPS_PER_TICK;
        }
    }

    private boolean open(int p) {
        if (level >= MAX_CAPTURES) {
            throw arguments.error("too many captures");
        }
        if (level == starts.length) {
            starts = Arrays.copyOf(starts, level + 4);
            lengths = Arrays.copyOf(lengths, level + 4);
        }
        boolean position = pattern(p + 1) == ')';
        starts[level] = sourceAt;
        lengths[level] = position ? POSITION : UNFINISHED;
        level++;
        choose(OPENED, 0, 0, 0);
        patternAt = p + (position ? 2 : 1);
        return true;
    }

    private boolean close() {
        int open = level - 1;
        while (open >= 0 && lengths[open] != UNFINISHED) {
            open--;
        }
        if (open < 0) {
            throw arguments.error("invalid pattern capture");
        }
        lengths[open] = sourceAt - starts[open];
        choose(CLOSED, open, 0, 0);
        patternAt++;
        return true;
    }

    private boolean escaped(int p) {
        int c = pattern(p + 1);
        if (c == 'b') {
            return balance(p + 2);
        }
        if (c == 'f') {
            return frontier(p + 2);
        }
        if (c >= '0' && c <= '9') {
            return captured(c - '1');
        }
        return item(p);
    }

    private boolean balance(int p) {
        int begin = pattern(p);
        int end = pattern(p + 1);
        if (begin == 0 || end == 0) {
            throw arguments.error("unbalanced pattern");
        }
        if (source(sourceAt) != begin) {
            return false;
        }
        int open = 1;
        for (int s = sourceAt + 1; s < source.length; s++) {
            count(1);
            int c = source[s] & 0xff;
            if (c == end) {
                if (--open == 0) {
                    sourceAt = s + 1;
                    patternAt = p + 2;
                    return true;
                }
            } else if (c == begin) {
                open++;
            }
        }
        return false;
    }

    private boolean frontier(int p) {
        if (pattern(p) != '[') {
            throw arguments.error("missing '[' after '%f' in pattern");
        }
        int end = endOfClass(p);
        int previous = sourceAt == 0 ? 0 : source(sourceAt - 1);
        if (matchesSet(previous, p, end - 1) || !matchesSet(source(sourceAt), p, end - 1)) {
            return false;
        }
        patternAt = end;
        return true;
    }

    private boolean captured(int capture) {
        if (capture < 0 || capture >= level || lengths[capture] == UNFINISHED) {
            throw arguments.error("invalid capture index");
        }
        int length = lengths[capture];
        if (length == POSITION || source.length - sourceAt < length) {
            return false;
        }
        count(length >> 4);
        int start = starts[capture];
        if (!Arrays.equals(source, start, start + length, source, sourceAt, sourceAt + length)) {
            return false;
        }
        sourceAt += length;
        patternAt += 2;
        return true;
    }

    /** A single character class, perhaps repeated. */
    private boolean item(int p) {
        int end = endOfClass(p);
        boolean matches = sourceAt < source.length && matches(source[sourceAt] & 0xff, p, end);
        switch (pattern(end)) {
            case '?' :
                if (matches) {
                    choose(OPTIONAL, sourceAt, end + 1, 0);
                    sourceAt++;
                }
                patternAt = end + 1;
                return true;
            case '*' :
                return longest(sourceAt, p, end);
            case '+' :
                return matches && longest(sourceAt + 1, p, end);
            case '-' :
                choose(SHORTEST, sourceAt, p, end);
                patternAt = end + 1;
                return true;
            default :
                sourceAt++;
                patternAt = end;
                return matches;
        }
    }

    private boolean longest(int from, int p, int end) {
        int at = from;
        while (at < source.length && matches(source[at] & 0xff, p, end)) {
            at++;
            count(1);
        }
        if (at > from) {
            choose(LONGEST, at, from, end + 1);
        }
        sourceAt = at;
        patternAt = end + 1;
        return true;
    }

    private void choose(int kind, int a, int b, int c) {
        int at = choiceCount * CHOICE_SIZE;
        if (at == choices.length) {
            if (choiceCount >= MAX_CHOICES) {
                throw arguments.error("pattern too complex");
            }
            choices = Arrays.copyOf(choices, Math.max(at * 2, 8 * CHOICE_SIZE));
        }
        choices[at] = kind;
        choices[at + 1] = a;
        choices[at + 2] = b;
        choices[at + 3] = c;
        choiceCount++;
    }

    /** Goes back to the last choice that has another way; false if there is none. */
    private boolean resume() {
        while (choiceCount > 0) {
            count(1);
            int at = (choiceCount - 1) * CHOICE_SIZE;
            switch (choices[at]) {
                case OPENED :
                    level--;
                    break;
                case CLOSED :
                    lengths[choices[at + 1]] = UNFINISHED;
                    break;
                case OPTIONAL :
                    choiceCount--;
                    sourceAt = choices[at + 1];
                    patternAt = choices[at + 2];
                    return true;
                case LONGEST :
                    sourceAt = --choices[at + 1];
                    patternAt = choices[at + 3];
                    if (sourceAt == choices[at + 2]) {
                        choiceCount--;
                    }
                    return true;
                default :
                    int s = choices[at + 1];
                    int end = choices[at + 3];
                    if (s < source.length && matches(source[s] & 0xff, choices[at + 2], end)) {
                        choices[at + 1] = s + 1;
                        sourceAt = s + 1;
                        patternAt = end + 1;
                        return true;
                    }
            }
            choiceCount--;
        }
        return false;
    }

    /** The index after a class, which begins at {@code p}. */
    private int endOfClass(int p) {
        int c = pattern(p);
        if (c == ESCAPE) {
            if (pattern(p + 1) == 0) {
                throw arguments.error("malformed pattern (ends with '%')");
            }
            return p + 2;
        }
        if (c != '[') {
            return p + 1;
        }
        int at = p + 1;
        if (pattern(at) == '^') {
            at++;
        }
        do {
            int member = pattern(at);
            if (member == 0) {
                throw malformedSet();
            }
            at++;
            if (member == ESCAPE && pattern(at) != 0) {
                at++;
            }
        } while (pattern(at) != ']');
        count(at - p >> 2);
        return at + 1;
    }

    private LuaError malformedSet() {
        return arguments.error("malformed pattern (missing ']')");
    }

    private boolean matches(int c, int p, int end) {
        switch (pattern[p]) {
            case '.' :
                return true;
            case ESCAPE :
                return isOfClass(c, pattern[p + 1] & 0xff);
            case '[' :
                return matchesSet(c, p, end - 1);
            default :
                return (pattern[p] & 0xff) == c;
        }
    }

    /** Whether the set from {@code p} to its bracket at {@code last} has a character. */
    private boolean matchesSet(int c, int p, int last) {
        boolean found = true;
        int at = p + 1;
        if (pattern[at] == '^') {
            found = false;
            at++;
        }
        count(last - at >> 2);
        while (at < last) {
            int member = pattern[at] & 0xff;
            if (member == ESCAPE) {
                if (isOfClass(c, pattern(at + 1))) {
                    return found;
                }
                at += 2;
            } else if (pattern(at + 1) == '-' && at + 2 < last) {
                if (member <= c && c <= (pattern[at + 2] & 0xff)) {
                    return found;
                }
                at += 3;
            } else {
                if (member == c) {
                    return found;
                }
                at++;
            }
        }
        return !found;
    }

    private static boolean isOfClass(int c, int letter) {
        boolean is;
        switch (letter | 0x20) {
            case 'a' :
                is = isLetter(c);
                break;
            case 'c' :
                is = c < ' ' || c == 127;
                break;
            case 'd' :
                is = isDigit(c);
                break;
            case 'l' :
                is = c >= 'a' && c <= 'z';
                break;
            case 'p' :
                is = c > ' ' && c < 127 && !isLetter(c) && !isDigit(c);
                break;
            case 's' :
                is = NumberParser.isSpace(c);
                break;
            case 'u' :
                is = c >= 'A' && c <= 'Z';
                break;
            case 'w' :
                is = isLetter(c) || isDigit(c);
                break;
            case 'x' :
                is = isDigit(c) || (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
                break;
            case 'z' :
                is = c == 0;
                break;
            default :
                return letter == c;
        }
        return is == letter >= 'a';
    }

    private static boolean isLetter(int c) {
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }
}
