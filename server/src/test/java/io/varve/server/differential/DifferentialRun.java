package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.varve.server.differential.random.ScriptShrinker;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.reply.GeoReplies;
import io.varve.server.differential.random.reply.GroupReplies;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.differential.random.reply.SortedSetReplies;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawReply;
import org.jspecify.annotations.Nullable;

/**
 * Sends a script to Varve and to the reference and compares the replies; shrinks a script that shows a difference.
 * Confined to the test's thread.
 */
final class DifferentialRun {
    /** Commands in flight at most, so that neither side's socket buffer fills up. */
    private static final int PIPELINE = 32;
    private static final long SECONDS_TOLERANCE = 2;
    /** A hash of so few short fields has not been a tree either, or hardly ever. */
    private static final int FEW_FIELDS = 60;
    private static final long MILLIS_TOLERANCE = 2000;

    /** The first step at which a script's replies differ. */
    record Difference(int step, String what) {}

    private final int varvePort;
    private final int referencePort;
    private final int protocol;

    DifferentialRun(int varvePort, int referencePort, int protocol) {
        this.varvePort = varvePort;
        this.referencePort = referencePort;
        this.protocol = protocol;
    }

    /** Runs a script on two empty servers; null if all replies agree. */
    @Nullable
    Difference run(List<ScriptStep> script) throws IOException {
        try (DifferentialSide varve = new DifferentialSide(varvePort);
                DifferentialSide reference = new DifferentialSide(referencePort)) {
            prepare(varve);
            prepare(reference);
            int next = 0;
            while (next < script.size()) {
                int end = next + 1;
                if (!script.get(next).runsAlone()) {
                    while (end < script.size() && end - next < PIPELINE && !script.get(end).runsAlone()) {
                        end++;
                    }
                }
                Difference difference = compare(script, next, end, varve, reference);
                if (difference != null) {
                    return difference;
                }
                next = end;
            }
            return null;
        }
    }

    private void prepare(DifferentialSide client) throws IOException {
        RawReply hello = client.call("HELLO", Integer.toString(protocol));
        RawReply flushed = client.call("FLUSHALL");
        // A reference before version 7 has no functions, and replies an error.
        client.call("FUNCTION", "FLUSH");
        if (hello.isError() || !flushed.text().equals("OK")) {
            throw new IOException("The server is not ready: " + hello + " " + flushed);
        }
    }

    private static @Nullable Difference compare(List<ScriptStep> script, int from, int to, DifferentialSide varve,
            DifferentialSide reference) throws IOException {
        if (script.get(from).comparison() == ScriptStep.Comparison.PUSHES) {
            return comparePushes(script.get(from), from, varve, reference);
        }
        for (int i = from; i < to; i++) {
            varve.write(script.get(i).bytes());
            reference.write(script.get(i).bytes());
        }
        varve.flush();
        reference.flush();
        for (int i = from; i < to; i++) {
            RawReply expected = reference.read();
            RawReply actual;
            try {
                actual = varve.read();
            } catch (IOException broken) {
                return new Difference(i, "Varve: " + broken + "\nRedis: " + expected);
            }
            if (!agree(script.get(i), actual, expected, varve, reference)) {
                return new Difference(i, "Varve: " + actual + "\nRedis: " + expected);
            }
        }
        return null;
    }

    /** Compares the pushes since the last comparison, and the replies to a command, however often it is sent. */
    private static @Nullable Difference comparePushes(ScriptStep step, int number, DifferentialSide varve,
            DifferentialSide reference)
            throws IOException {
        varve.writeWithMark(step.bytes());
        reference.writeWithMark(step.bytes());
        List<String> expected = reference.readToMark();
        List<String> actual;
        try {
            actual = varve.readToMark();
        } catch (IOException broken) {
            return new Difference(number, "Varve: " + broken + "\nRedis: " + expected);
        }
        return actual.equals(expected)
                ? null
                : new Difference(number, "Varve: " + actual + "\nRedis: " + expected);
    }

    private static boolean agree(ScriptStep step, RawReply actual, RawReply expected, DifferentialSide varve,
            DifferentialSide reference) throws IOException {
        if (step.comparison() != ScriptStep.Comparison.WHOLE_SCAN && actual.equals(expected)) {
            return true;
        }
        return switch (step.comparison()) {
            case EXACT -> false;
            case SECONDS -> near(actual, expected, SECONDS_TOLERANCE);
            case MILLIS -> near(actual, expected, MILLIS_TOLERANCE);
            case ANY_ORDER -> sameElements(actual, expected);
            case HASH_ORDER -> sameElements(actual, expected) && !keepsOrder(step, varve, reference);
            case WHOLE_SCAN -> sameScan(step, actual, expected, varve, reference);
            case RANDOM_KEY -> isKeyOf(actual, expected, reference);
            case RANDOM_FIELDS -> areFieldsOf(step, actual, expected, reference);
            case RANDOM_SET_MEMBERS -> SetReplies.areMembers(step, actual, expected, reference);
            case RANDOM_POP -> SetReplies.arePopped(step, actual, expected, varve, reference);
            case PUSHES -> throw new IllegalArgumentException("Pushes are not compared one by one");
            case DISTANCES -> GeoReplies.sameButForLastDigits(actual, expected);
            case GROUPS -> GroupReplies.sameButForTimes(actual, expected);
            case SHAPE -> sameShape(actual, expected);
            case RANDOM_MEMBERS -> SortedSetReplies.areMembersOf(step, actual, expected, reference);
        };
    }

    private static boolean near(RawReply actual, RawReply expected, long tolerance) {
        return actual.isInteger() && expected.isInteger() && actual.integer() > 0 && expected.integer() > 0
                && Math.abs(actual.integer() - expected.integer()) <= tolerance;
    }

    private static boolean sameShape(RawReply actual, RawReply expected) {
        boolean same = !actual.isError() && actual.kind() == expected.kind() && actual.isNull() == expected.isNull();
        return same && (actual.elements().isEmpty() || expected.elements().isEmpty()
                || sameShape(actual.elements().getFirst(), expected.elements().getFirst()));
    }

    /** An array's elements, or a map's pairs, in any order. */
    private static boolean sameElements(RawReply actual, RawReply expected) {
        return actual.kind() == expected.kind() && actual.text().equals(expected.text()) && actual.isAggregate()
                && sorted(actual).equals(sorted(expected));
    }

    private static List<String> sorted(RawReply reply) {
        List<String> texts = new ArrayList<>();
        int width = reply.kind() == '%' ? 2 : 1;
        for (int i = 0; i < reply.elements().size(); i += width) {
            texts.add(fullText(reply.elements().subList(i, i + width)));
        }
        Collections.sort(texts);
        return texts;
    }

    private static String fullText(List<RawReply> replies) {
        StringBuilder text = new StringBuilder();
        for (RawReply reply : replies) {
            text.append(reply.kind()).append(reply.text().length()).append(reply.text());
            text.append(fullText(reply.elements()));
        }
        return text.toString();
    }

    /**
     * Whether the reference keeps the fields in the order in which they came, and Varve has one of few fields, which is
     * packed.
     */
    private static boolean keepsOrder(ScriptStep step, DifferentialSide varve, DifferentialSide reference)
            throws IOException {
        String key = step.arguments().get(1);
        String encoding = reference.call("OBJECT", "ENCODING", key).text();
        return (encoding.equals("listpack") || encoding.equals("ziplist"))
                && varve.call("HLEN", key).integer() <= FEW_FIELDS
                && PackedLimits.arePacked(varve, FEW_FIELDS);
    }

    /** Goes on with both scans to their ends and compares the sets of what they found. */
    private static boolean sameScan(ScriptStep step, RawReply actual, RawReply expected, DifferentialSide varve,
            DifferentialSide reference) throws IOException {
        if (actual.kind() != '*' || expected.kind() != '*') {
            return actual.equals(expected);
        }
        Set<String> found = collect(step, actual, varve);
        return found.equals(collect(step, expected, reference));
    }

    private static Set<String> collect(ScriptStep step, RawReply first, DifferentialSide client) throws IOException {
        int cursorAt = step.arguments().getFirst().equalsIgnoreCase("SCAN") ? 1 : 2;
        String name = step.arguments().getFirst();
        boolean pairs = name.equalsIgnoreCase("HSCAN") || name.equalsIgnoreCase("ZSCAN");
        Set<String> found = new HashSet<>();
        RawReply page = first;
        for (int calls = 0; calls < 100_000; calls++) {
            List<RawReply> elements = page.elements().get(1).elements();
            int width = pairs ? 2 : 1;
            for (int i = 0; i < elements.size(); i += width) {
                found.add(fullText(elements.subList(i, i + width)));
            }
            String cursor = page.elements().getFirst().text();
            if (cursor.equals("0")) {
                return found;
            }
            List<String> arguments = new ArrayList<>(step.arguments());
            arguments.set(cursorAt, cursor);
            page = client.call(arguments.toArray(String[]::new));
        }
        throw new IOException("A scan does not end");
    }

    private static boolean isKeyOf(RawReply actual, RawReply expected, DifferentialSide reference) throws IOException {
        return actual.kind() == '$' && expected.kind() == '$'
                && reference.call("EXISTS", actual.text()).text().equals("1");
    }

    private static boolean areFieldsOf(ScriptStep step, RawReply actual, RawReply expected, DifferentialSide reference)
            throws IOException {
        String key = step.arguments().get(1);
        if (actual.kind() == '$' && expected.kind() == '$') {
            return reference.call("HEXISTS", key, actual.text()).text().equals("1");
        }
        if (actual.kind() != '*' || expected.kind() != '*' || !actual.text().equals(expected.text())) {
            return false;
        }
        boolean withValues = step.arguments().size() == 4;
        boolean nested = !expected.elements().isEmpty() && expected.elements().getFirst().kind() == '*';
        List<RawReply> flat = new ArrayList<>();
        for (RawReply element : actual.elements()) {
            if (nested != (element.kind() == '*')) {
                return false;
            }
            if (nested) {
                flat.addAll(element.elements());
            } else {
                flat.add(element);
            }
        }
        int width = withValues ? 2 : 1;
        Set<String> fields = new HashSet<>();
        for (int i = 0; i < flat.size(); i += width) {
            String field = flat.get(i).text();
            fields.add(field);
            RawReply value = reference.call("HGET", key, field);
            if (value.kind() != '$' || withValues && !value.equals(flat.get(i + 1))) {
                return false;
            }
        }
        boolean repeats = step.arguments().get(2).startsWith("-");
        return repeats || fields.size() * width == flat.size();
    }

    // --- shrinking

    /** Leaves out of a script that shows a difference whatever is not needed to show one. */
    List<ScriptStep> shrink(List<ScriptStep> failing, Difference difference) throws IOException {
        return ScriptShrinker.shrink(failing, difference.step(), script -> {
            Difference still = run(script);
            return still == null ? ScriptShrinker.NONE : still.step();
        });
    }
}
