package io.varve.server.command.dump;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.rdb.Payloads;

/** Streams as they are used, for {@link StreamPayloadFuzzTest}. Immutable. */
final class StreamSeeds {
    private StreamSeeds() {}

    /** The commands that make a stream {@code s}, for each stream. */
    static List<List<String>> streams(long now) {
        List<String> events = new ArrayList<>();
        for (int i = 1; i <= 8; i++) {
            events.add("XADD s " + now + "-" + i + " event e" + i % 3 + " id " + i * 1000);
        }
        List<String> groups = new ArrayList<>(events);
        groups.addAll(List.of("XGROUP CREATE s workers 0", "XGROUP CREATE s audit " + now + "-4 ENTRIESREAD 4",
                "XREADGROUP GROUP workers one COUNT 3 STREAMS s >", "XREADGROUP GROUP workers two COUNT 2 STREAMS s >",
                "XREADGROUP GROUP audit one COUNT 1 STREAMS s >", "XACK s workers " + now + "-2",
                "XDEL s " + now + "-3 " + now + "-8", "XGROUP CREATECONSUMER s audit idle"));
        return List.of(List.of("XADD s 1-1 f v"), events, groups,
                List.of("XADD s 1-1 a 1 b -1", "XADD s 1-2 a 127 b -4096", "XADD s 2-0 a 70000 b 9000000",
                        "XADD s 3-0 a 5000000000 b -9223372036854775808", "XADD s 4-0 other text",
                        "XADD s 5-0 a " + "x".repeat(100) + " b y", "XTRIM s MAXLEN 4"),
                List.of("XADD s 1-0 f v", "XDEL s 1-0"),
                List.of("XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATECONSUMER s g c"),
                List.of("XADD s 18446744073709551615-18446744073709551614 f v", "XGROUP CREATE s g 0",
                        "XREADGROUP GROUP g c STREAMS s >"));
    }

    static List<String> words() {
        return List.of("\0", "\u0001", "\u0002", "\u0003", "\u0010",
                "\u0081\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff",
                "\u0081\u0080\0\0\0\0\0\0\0", "\u0080\u00ff\u00ff\u00ff\u00ff",
                "\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff",
                "\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\u0005", "\0\0\0\0\0\0\0\u0006", "\u00f1\0\u0080\u0003",
                "\u00f4\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u007f\t", "\u00f4\0\0\0\0\0\0\0\u0080\t",
                "\u00df\u00ff\u0002", "\u0001\u0001", "\u0002\u0001", "\u0003\u0001", "\0\u0001", "\u0081f\u0002",
                "\u00ff",
                Payloads.texts("group"), Payloads.texts("me"), Payloads.texts(""), Payloads.texts("a"));
    }
}
