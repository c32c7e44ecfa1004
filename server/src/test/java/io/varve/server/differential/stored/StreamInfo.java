package io.varve.server.differential.stored;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;

/** Random streams with groups, and all that a server says about one. Immutable: static methods only. */
final class StreamInfo {
    private StreamInfo() {}

    /**
     * XINFO STREAM FULL, without the active times, which Redis 7.0 does not know, and without the lags, some of which
     * it computes in another way than later versions.
     */
    static String of(RawClient client, String key) throws IOException {
        StringBuilder text = new StringBuilder();
        append(client.call("XINFO", "STREAM", key, "FULL", "COUNT", "0"), text);
        return text.toString();
    }

    private static void append(RawReply reply, StringBuilder text) {
        if (!reply.isAggregate()) {
            text.append(' ').append(reply);
            return;
        }
        text.append('[');
        for (int i = 0; i < reply.elements().size(); i++) {
            RawReply element = reply.elements().get(i);
            if (isLeftOut(element)) {
                i++;
            } else {
                append(element, text);
            }
        }
        text.append(']');
    }

    private static boolean isLeftOut(RawReply name) {
        return !name.isAggregate() && !name.isNull()
                && (name.text().equals("active-time") || name.text().equals("lag"));
    }

    /** Commands that make a stream. */
    static List<List<String>> commands(SplittableRandom random, boolean huge, String key, Supplier<String> element) {
        List<List<String>> commands = new ArrayList<>();
        int entries = huge ? 1000 : 1 + random.nextInt(random.nextInt(4) == 0 ? 150 : 12);
        long ms = random.nextLong(1, 1L << random.nextInt(1, 50));
        String[] ids = new String[entries];
        for (int i = 0; i < entries; i++) {
            ms += random.nextInt(3);
            ids[i] = ms + "-" + (i + 1);
            List<String> words = new ArrayList<>(List.of("XADD", key, ids[i]));
            for (int j = random.nextInt(8) == 0 ? random.nextInt(5) : 2; j >= 0; j--) {
                words.add(random.nextInt(6) == 0 ? element.get() : "field" + j);
                words.add(element.get());
            }
            commands.add(words);
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            commands.add(List.of("XDEL", key, ids[random.nextInt(entries)], ids[random.nextInt(entries)]));
        }
        if (random.nextInt(3) == 0) {
            commands.add(List.of("XTRIM", key, "MAXLEN", Integer.toString(random.nextInt(entries))));
        }
        if (random.nextInt(4) == 0) {
            commands.add(List.of("XSETID", key, ms + 9 + "-0", "ENTRIESADDED", "1000000", "MAXDELETEDID", "0-1"));
        }
        for (int i = random.nextInt(4); i > 0; i--) {
            group(commands, random, key, random.nextBoolean() ? "g" + i : Integer.toString(i), ids);
        }
        return commands;
    }

    private static void group(List<List<String>> commands, SplittableRandom random, String key, String group,
            String... ids) {
        String from = random.nextBoolean() ? "0" : ids[random.nextInt(ids.length)];
        commands.add(random.nextInt(3) == 0
                ? List.of("XGROUP", "CREATE", key, group, from, "ENTRIESREAD", "3")
                : List.of("XGROUP", "CREATE", key, group, from));
        for (int i = random.nextInt(4); i > 0; i--) {
            commands.add(List.of("XREADGROUP", "GROUP", group, "c" + random.nextInt(3), "COUNT",
                    Integer.toString(1 + random.nextInt(ids.length)), "STREAMS", key, ">"));
        }
        commands.add(List.of("XGROUP", "CREATECONSUMER", key, group, "17"));
        commands.add(List.of("XACK", key, group, ids[random.nextInt(ids.length)]));
        commands.add(List.of("XDEL", key, ids[random.nextInt(ids.length)]));
    }
}
