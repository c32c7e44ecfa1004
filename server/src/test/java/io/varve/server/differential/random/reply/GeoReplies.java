package io.varve.server.differential.random.reply;

import java.util.regex.Pattern;

import io.varve.server.testing.RawReply;

/** Compares replies with distances, whose last digit may differ: it depends on the C library's sines. Immutable. */
public final class GeoReplies {
    private static final Pattern DISTANCE = Pattern.compile("\\d+\\.\\d{4}");
    private static final double TOLERANCE = 0.00011;

    private GeoReplies() {}

    public static boolean sameButForLastDigits(RawReply actual, RawReply expected) {
        if (actual.kind() != expected.kind() || actual.elements().size() != expected.elements().size()) {
            return false;
        }
        for (int i = 0; i < actual.elements().size(); i++) {
            if (!sameButForLastDigits(actual.elements().get(i), expected.elements().get(i))) {
                return false;
            }
        }
        return actual.text().equals(expected.text()) || DISTANCE.matcher(actual.text()).matches()
                && DISTANCE.matcher(expected.text()).matches()
                && Math.abs(Double.parseDouble(actual.text()) - Double.parseDouble(expected.text())) < TOLERANCE;
    }
}
