package io.varve.server.differential.random.reply;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.varve.server.differential.DifferentialSide;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.testing.RawReply;

/** Compares replies of ZRANDMEMBER: existing members, as many as the reference returns. Immutable. */
public final class SortedSetReplies {
    private SortedSetReplies() {}

    public static boolean areMembersOf(ScriptStep step, RawReply actual, RawReply expected, DifferentialSide reference)
            throws IOException {
        String key = step.arguments().get(1);
        if (actual.kind() == '$' && expected.kind() == '$') {
            return !reference.call("ZSCORE", key, actual.text()).isNull();
        }
        if (actual.kind() != '*' || expected.kind() != '*' || !actual.text().equals(expected.text())) {
            return false;
        }
        boolean withScores = step.arguments().size() == 4;
        boolean nested = !expected.elements().isEmpty() && expected.elements().getFirst().kind() == '*';
        List<RawReply> flat = new ArrayList<>();
        for (RawReply element : actual.elements()) {
            if (nested != (element.kind() == '*')) {
                return false;
            }
            flat.addAll(nested ? element.elements() : List.of(element));
        }
        int width = withScores ? 2 : 1;
        Set<String> members = new HashSet<>();
        for (int i = 0; i < flat.size(); i += width) {
            String member = flat.get(i).text();
            members.add(member);
            RawReply score = reference.call("ZSCORE", key, member);
            if (score.isNull() || withScores && !score.equals(flat.get(i + 1))) {
                return false;
            }
        }
        boolean repeats = step.arguments().get(2).startsWith("-");
        return repeats || members.size() * width == flat.size();
    }
}
