package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import static io.varve.server.differential.random.ScriptStep.Comparison.GROUPS;
import static io.varve.server.differential.random.ScriptStep.Comparison.SHAPE;

/**
 * Draws random commands on consumer groups, with every command and option. Confined to the test's thread.
 *
 * <p>Redis 7.0 creates a consumer only when it gives it an entry, Redis 7.2 and Varve always: so consumers are created
 * first. Times are of three kinds that differ by more than a script takes: now, and {@code IDLE} of two values.
 */
final class RandomGroupCommands extends CommandGenerator {
    private static final String[] GROUP_NAMES = {"g", "g", "g", "g", "h", "h", "", "a\0b", "nosuch"};
    private static final String[] CONSUMERS = {"c", "c", "d", "e", "e", "", "c\0"};
    private static final String[] IDLE = {"100000000", "200000000", "0", "-1"};
    private static final String[] MIN_IDLE = {"0", "0", "0", "50000000", "150000000", "-1"};

    private final RandomStreamCommands streams;

    RandomGroupCommands(Source source, RandomStreamCommands streams) {
        super(source);
        this.streams = streams;
    }

    @Override
    void any() {
        switch (draw.below(24)) {
            case 0, 1 -> create();
            case 2 -> setId();
            case 3 -> manage();
            case 4, 5, 6, 7, 8, 9, 10 -> read();
            case 11, 12 -> acknowledge();
            case 13, 14, 15 -> pending();
            case 16, 17 -> claim();
            case 18, 19, 20 -> claimAutomatically();
            default -> info();
        }
    }

    private String count() {
        return oneIn(8) ? draw.number() : Integer.toString(draw.below(6));
    }

    private String minIdle() {
        // A few milliseconds may have passed on one server, and not on the other.
        return oneIn(30) ? one("abc", "", "1.5", "9223372036854775807", "9223372036854775808") : one(MIN_IDLE);
    }

    // --- groups

    private void create() {
        String stream = streams.stream();
        List<String> words = new ArrayList<>(List.of("XGROUP", one("CREATE", "create"), stream, one(GROUP_NAMES),
                oneIn(3) ? streams.id() : one("0", "$", "0-0")));
        if (streams.isStream(stream) && oneIn(2)) {
            words.add(one("MKSTREAM", "mkstream"));
        }
        entriesRead(words);
        if (oneIn(30)) {
            words.add(one("MKSTREAMS", "ENTRIESREAD"));
        }
        add(words);
    }

    private void setId() {
        List<String> words = new ArrayList<>(List.of("XGROUP", one("SETID", "setid"), streams.stream(),
                one(GROUP_NAMES), oneIn(3) ? "$" : streams.id()));
        entriesRead(words);
        add(words);
    }

    private void entriesRead(List<String> words) {
        for (int i = oneIn(3) ? 1 + draw.below(2) : 0; i > 0; i--) {
            words.add(one("ENTRIESREAD", "entriesread"));
            words.add(oneIn(5) ? draw.number() : Integer.toString(draw.below(30) - 1));
        }
    }

    private void manage() {
        switch (draw.below(8)) {
            case 0 -> add("XGROUP", "DESTROY", streams.stream(), one(GROUP_NAMES));
            case 1, 2, 3 -> add("XGROUP", "CREATECONSUMER", streams.stream(), one(GROUP_NAMES), one(CONSUMERS));
            case 4, 5 -> add("XGROUP", "DELCONSUMER", streams.stream(), one(GROUP_NAMES), one(CONSUMERS));
            case 6 -> sink.add(SHAPE, "XGROUP", "HELP");
            default -> add("XGROUP", one("NOSUCH", "CREATE", "DESTROY", "SETID"), streams.stream());
        }
    }

    private void createConsumer(String stream, String group, String consumer) {
        addAsIs("XGROUP", "CREATECONSUMER", stream, group, consumer);
    }

    // --- deliveries

    private void read() {
        String group = one(GROUP_NAMES);
        String consumer = one(CONSUMERS);
        List<String> words = new ArrayList<>(List.of("XREADGROUP", "GROUP", group, consumer));
        if (oneIn(2)) {
            words.add(one("COUNT", "count"));
            words.add(count());
        }
        if (oneIn(4)) {
            words.add(one("NOACK", "noack"));
        }
        if (oneIn(20)) {
            words.add("BLOCK");
            words.add(oneIn(4) ? one("-1", "abc") : "1");
        }
        if (oneIn(60)) {
            words.removeAll(List.of("GROUP", group, consumer));
        }
        words.add(one("STREAMS", "streams"));
        int count = oneIn(3) ? 1 + draw.below(3) : 1;
        for (int i = 0; i < count; i++) {
            String stream = streams.stream();
            words.add(stream);
            createConsumer(stream, group, consumer);
        }
        for (int i = 0; i < count; i++) {
            String id = oneIn(3) ? streams.id() : one(">", ">", ">", ">", "0");
            // Newer references reply another error.
            words.add(id.equals("+") ? "0" : id);
        }
        if (words.contains("BLOCK")) {
            addAsIs(words.toArray(String[]::new));
        } else {
            add(words);
        }
    }

    private void acknowledge() {
        List<String> words = new ArrayList<>(List.of("XACK", streams.stream(), one(GROUP_NAMES)));
        for (int i = oneIn(4) ? draw.below(20) : 2; i > 0; i--) {
            words.add(oneIn(30) ? streams.id() : streams.recentId());
        }
        add(words);
    }

    // --- pending entries

    private void pending() {
        List<String> words = new ArrayList<>(List.of("XPENDING", streams.stream(), one(GROUP_NAMES)));
        if (oneIn(4)) {
            add(words);
            return;
        }
        if (oneIn(3)) {
            words.add(one("IDLE", "idle"));
            words.add(minIdle());
        }
        words.add(oneIn(3) ? bound() : "-");
        words.add(oneIn(3) ? bound() : "+");
        words.add(count());
        if (oneIn(3)) {
            words.add(one(CONSUMERS));
        }
        if (oneIn(30)) {
            words.add("c");
        }
        sink.add(GROUPS, words.toArray(String[]::new));
    }

    private String bound() {
        return oneIn(4) ? "(" + streams.id() : streams.id();
    }

    private void claim() {
        String stream = streams.stream();
        String group = one(GROUP_NAMES);
        String consumer = one(CONSUMERS);
        createConsumer(stream, group, consumer);
        List<String> words = new ArrayList<>(List.of("XCLAIM", stream, group, consumer, minIdle()));
        for (int i = oneIn(4) ? 1 + draw.below(20) : 2; i > 0; i--) {
            words.add(oneIn(30) ? streams.id() : streams.recentId());
        }
        for (int i = oneIn(2) ? draw.below(4) : 0; i > 0; i--) {
            switch (draw.below(9)) {
                case 0, 1 -> words.add(one("FORCE", "force"));
                case 2, 3 -> words.add(one("JUSTID", "justid"));
                case 4, 5 -> words.addAll(List.of("IDLE", one(IDLE)));
                case 6 -> words.addAll(List.of("RETRYCOUNT", count()));
                case 7 -> words.addAll(List.of("LASTID", streams.recentId()));
                default -> words.addAll(List.of(one("TIME", "IDLE", "RETRYCOUNT", "LASTID", "NOSUCH"),
                        one("99999999999999", "-1", "abc")));
            }
        }
        add(words);
    }

    private void claimAutomatically() {
        String stream = streams.stream();
        String group = one(GROUP_NAMES);
        String consumer = one(CONSUMERS);
        createConsumer(stream, group, consumer);
        List<String> words = new ArrayList<>(List.of("XAUTOCLAIM", stream, group, consumer, minIdle(),
                oneIn(3) ? bound() : "-"));
        if (oneIn(2)) {
            words.addAll(List.of("COUNT", oneIn(10) ? one("0", "-1", "abc") : Integer.toString(1 + draw.below(5))));
        }
        if (oneIn(3)) {
            words.add(one("JUSTID", "justid"));
        }
        if (oneIn(30)) {
            words.add("COUNT");
        }
        add(words);
    }

    private void info() {
        switch (draw.below(6)) {
            case 0, 1 -> sink.add(GROUPS, "XINFO", one("GROUPS", "groups"), streams.stream());
            case 2 -> sink.add(GROUPS, "XINFO", one("CONSUMERS", "consumers"), streams.stream(), one(GROUP_NAMES));
            case 3 -> sink.add(GROUPS, "XINFO", "STREAM", streams.stream(), one("FULL", "full"));
            case 4 -> sink.add(GROUPS, "XINFO", "STREAM", streams.stream(), "FULL", "COUNT", count());
            default -> sink.add(GROUPS, "XINFO", "STREAM", streams.stream(), one("FULLY", "FULL"), one("COUNT", "x"));
        }
    }
}
