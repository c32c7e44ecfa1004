package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import static io.varve.server.differential.random.ScriptStep.Comparison.SHAPE;

/**
 * Draws random commands on streams, with every command and option. Confined to the test's
 * thread.
 *
 * <p>An ID that the server generates from its clock would differ: a {@code *} follows an entry of the far future.
 */
final class RandomStreamCommands extends CommandGenerator {
    private static final String[] STREAMS = {"st", "st", "st", "st2", "st3"};
    private static final String[] IDS = {"0", "0-0", "0-1", "1", "-", "+", "$", "", "abc", "1-", "-1", "1-abc",
            "1--1", "1--01", "01-01", " 1", "1- 2", "+1-+1", "1-*", "*", "1-**", "18446744073709551615",
            "18446744073709551615-18446744073709551615", "18446744073709551616", "9223372036854775808-1",
            "5-18446744073709551614", "1".repeat(128), "1-0".repeat(60), "1\0", "\0", "-\0", "(1", "(", ">"};
    private static final String[] FIELDS = {"f", "f", "g", "name", "", "10", "-1", "f".repeat(63), "f".repeat(64)};
    /** After any clock. */
    private static final String FUTURE = "99999999999999-*";

    /** Rises slowly, so that most new IDs are greater than the last. */
    private int clock;

    private final CommandGenerator groups;

    RandomStreamCommands(Source source) {
        super(source);
        groups = new RandomGroupCommands(source, this);
    }

    @Override
    void any() {
        if (oneIn(2)) {
            groups.any();
            return;
        }
        switch (draw.below(32)) {
            case 0, 1, 2, 3, 4, 5, 6 -> append();
            case 7 -> appendMany();
            case 8 -> appendInTheFuture();
            case 9, 10 -> add(appendWith(trim()));
            case 11 -> add("XLEN", stream());
            case 12, 13, 14 -> range();
            case 15, 16 -> delete();
            case 17, 18 -> trimAlone();
            case 19 -> setId();
            case 20, 21 -> info();
            case 22, 23, 24 -> read();
            case 25 -> readAndBlock();
            case 26 -> blocks();
            default -> keyCommand();
        }
    }

    /** Whether only streams have this key. */
    boolean isStream(String key) {
        return List.of(STREAMS).contains(key);
    }

    String stream() {
        return oneIn(12) ? draw.key() : one(STREAMS);
    }

    String recentId() {
        int ms = Math.max(0, clock - draw.below(oneIn(3) ? 200 : 20));
        return oneIn(3) ? Integer.toString(ms / 3) : ms / 3 + "-" + ms % 3;
    }

    String id() {
        return oneIn(6) ? one(IDS) : recentId();
    }

    private String newId() {
        if (oneIn(12)) {
            return one(IDS).equals("*") ? "1" : id();
        }
        clock += oneIn(20) ? 100 : 1 + draw.below(3);
        return oneIn(8) ? clock / 3 + "-*" : clock / 3 + "-" + clock % 3;
    }

    private void fields(List<String> words) {
        // Mostly the same, so that entries have the fields of their block.
        int count = oneIn(12) ? draw.below(40) : oneIn(3) ? 1 + draw.below(4) : 2;
        for (int i = 0; i < count; i++) {
            words.add(oneIn(3) ? one(FIELDS) : "f" + i);
            words.add(oneIn(3) ? draw.value() : Integer.toString(draw.below(1000) - 200));
        }
        if (oneIn(40)) {
            words.removeLast();
        }
    }

    private List<String> appendWith(List<String> options) {
        List<String> words = new ArrayList<>(oneIn(30)
                ? List.of("XADD", draw.key(), "NOMKSTREAM")
                : List.of("XADD", one(STREAMS)));
        words.addAll(options);
        words.add(newId());
        fields(words);
        // An ID from the clock would differ.
        words.replaceAll(word -> word.equals("*") ? "**" : word);
        return words;
    }

    private void append() {
        add(appendWith(oneIn(10) ? List.of(one("NOMKSTREAM", "nomkstream", "NOMK")) : List.of()));
    }

    private void appendMany() {
        String stream = one(STREAMS);
        int count = oneIn(4) ? 150 : 10;
        for (int i = 0; i < count; i++) {
            clock++;
            addAsIs("XADD", stream, clock / 3 + "-" + clock % 3, "f0", "v" + i, "f1", Integer.toString(i));
        }
    }

    private void appendInTheFuture() {
        addAsIs("XADD", "st-future", FUTURE, "f", "v");
        for (int i = draw.below(5); i >= 0; i--) {
            addAsIs("XADD", "st-future", "*", "f", draw.value());
        }
        add("XRANGE", "st-future", "-", "+");
        if (oneIn(4)) {
            addAsIs("DEL", "st-future");
        }
    }

    private List<String> trim() {
        List<String> words = new ArrayList<>();
        if (oneIn(2)) {
            words.add(one("MAXLEN", "maxlen"));
            how(words);
            words.add(oneIn(10) ? draw.number() : Integer.toString(draw.below(oneIn(3) ? 200 : 15)));
        } else {
            words.add(one("MINID", "minid"));
            how(words);
            words.add(id());
        }
        if (oneIn(4)) {
            words.add(one("LIMIT", "limit"));
            words.add(oneIn(8) ? draw.number() : Integer.toString(draw.below(60)));
        }
        if (oneIn(20)) {
            words.add(one("MAXLEN", "MINID", "NOMKSTREAM", "LIMIT", "~"));
        }
        return words;
    }

    private void how(List<String> words) {
        if (!oneIn(3)) {
            words.add(one("~", "~", "=", "~~"));
        }
    }

    private void trimAlone() {
        List<String> words = new ArrayList<>(List.of("XTRIM", stream()));
        words.addAll(trim());
        add(words);
    }

    private void range() {
        List<String> words = new ArrayList<>(List.of(one("XRANGE", "XREVRANGE"), stream()));
        words.add(oneIn(3) ? one("-", "+") : bound());
        words.add(oneIn(3) ? one("+", "-") : bound());
        if (oneIn(2)) {
            words.add(one("COUNT", "count", "COUNTS"));
            words.add(oneIn(6) ? draw.number() : Integer.toString(draw.below(12)));
        }
        add(words);
    }

    private String bound() {
        return oneIn(4) ? "(" + id() : id();
    }

    private void delete() {
        List<String> words = new ArrayList<>(List.of("XDEL", stream()));
        for (int i = oneIn(4) ? draw.below(40) : 1; i > 0; i--) {
            words.add(oneIn(30) ? id() : recentId());
        }
        add(words);
    }

    private void setId() {
        List<String> words = new ArrayList<>(List.of("XSETID", stream(), id()));
        if (oneIn(2)) {
            words.add(one("ENTRIESADDED", "entriesadded"));
            words.add(oneIn(6) ? draw.number() : Integer.toString(draw.below(1000)));
        }
        if (oneIn(2)) {
            words.add(one("MAXDELETEDID", "maxdeletedid"));
            words.add(id());
        }
        if (oneIn(3)) {
            clock += 3;
            words.set(2, clock / 3 + "-0");
        }
        add(words);
    }

    private void info() {
        if (oneIn(15)) {
            sink.add(SHAPE, "XINFO", "HELP");
        } else {
            add("XINFO", one("STREAM", "stream", "STREAM", "nosuch"), stream());
        }
    }

    private void read() {
        List<String> words = new ArrayList<>(List.of("XREAD"));
        if (oneIn(2)) {
            words.add(one("COUNT", "count"));
            words.add(oneIn(6) ? draw.number() : Integer.toString(draw.below(12)));
        }
        if (oneIn(30)) {
            words.addAll(List.of(one("NOACK", "GROUP", "BLOCKS", "COUNT"), "g", "c"));
        }
        words.add(one("STREAMS", "streams"));
        streams(words);
        add(words);
    }

    private void streams(List<String> words) {
        int count = 1 + draw.below(3);
        for (int i = 0; i < count; i++) {
            words.add(stream());
        }
        for (int i = 0; i < count; i++) {
            String id = oneIn(5) ? "$" : id();
            // Newer references know + as the last entry.
            words.add(id.equals("+") ? "0" : id);
        }
    }

    private void readAndBlock() {
        List<String> words = new ArrayList<>(List.of("XREAD"));
        words.add("BLOCK");
        words.add(oneIn(10) ? one("-1", "abc", "", "1.5", "9223372036854775808") : "1");
        if (oneIn(3)) {
            words.add("COUNT");
            words.add(Integer.toString(draw.below(5)));
        }
        words.add("STREAMS");
        streams(words);
        addAsIs(words.toArray(String[]::new));
    }

    /** The sizes of blocks decide what an approximate trim deletes. Redis 7.0.15 crashes with less than 4096 bytes. */
    private void blocks() {
        if (oneIn(2)) {
            addAsIs("CONFIG", "SET", "stream-node-max-entries", one("1", "2", "3", "10", "100", "200", "0"));
        } else {
            addAsIs("CONFIG", "SET", "stream-node-max-bytes", one("0", "4096", "20000"));
        }
    }

    private void keyCommand() {
        switch (draw.below(12)) {
            case 0 -> add("TYPE", stream());
            case 1 -> add("OBJECT", "ENCODING", one(STREAMS));
            case 2 -> add("COPY", one(STREAMS), one(STREAMS), "REPLACE");
            case 3 -> add("RENAME", one(STREAMS), one(STREAMS));
            case 4 -> add(one("GET", "LLEN", "SCARD", "ZCARD", "HLEN", "SORT"), one(STREAMS));
            case 5 -> add("EXPIRE", one(STREAMS), "100000");
            case 6 -> add("PERSIST", one(STREAMS));
            case 7 -> {
                if (oneIn(3)) {
                    add(one("DEL", "UNLINK"), one(STREAMS));
                }
            }
            case 8 -> add("EXISTS", one(STREAMS));
            default -> add("XLEN", stream());
        }
    }
}
