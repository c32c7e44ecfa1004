package io.varve.server.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import io.varve.server.testing.RawReply;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Parses replies, ISO 8859-1, and fails at whatever the protocol does not allow. Confined to the test's thread; used
 * for one text.
 */
public final class StrictReplies {
    private static final String NULL = "-1 (null)";
    private static final Pattern NUMBER = Pattern.compile("0|-?[1-9][0-9]{0,18}");
    private static final Pattern COUNT = Pattern.compile("0|[1-9][0-9]{0,9}");
    private static final Pattern DECIMAL = Pattern.compile("-?inf|-?nan|-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?");
    private static final int FORMAT_CHARS = 3;

    private final String text;
    private final boolean isResp3;
    private int at;

    private StrictReplies(String text, boolean isResp3) {
        this.text = text;
        this.isResp3 = isResp3;
    }

    /** All replies of a text, which ends with the last one. */
    public static List<RawReply> all(String text, boolean isResp3) {
        StrictReplies parser = new StrictReplies(text, isResp3);
        List<RawReply> replies = new ArrayList<>();
        while (parser.at < text.length()) {
            replies.add(parser.next());
        }
        return replies;
    }

    /** The only reply of a text. */
    public static RawReply one(String text, boolean isResp3) {
        List<RawReply> replies = all(text, isResp3);
        assertThat(replies).as(text).hasSize(1);
        return replies.getFirst();
    }

    private RawReply next() {
        String line = line();
        require(!line.isEmpty(), "a type");
        char kind = line.charAt(0);
        String head = line.substring(1);
        return switch (kind) {
            case '+', '-' -> new RawReply(kind, head, List.of());
            case ':' -> of(kind, head, NUMBER.matcher(head).matches());
            case '$' -> isNull(head) ? new RawReply(kind, NULL, List.of()) : new RawReply(kind, bulk(head), List.of());
            case '*' -> isNull(head) ? new RawReply(kind, NULL, List.of()) : aggregate(kind, head, 1);
            case '~' -> resp3(aggregate(kind, head, 1));
            case '%' -> resp3(aggregate(kind, head, 2));
            case '_' -> resp3(of(kind, head, head.isEmpty()));
            case '#' -> resp3(of(kind, head, head.equals("t") || head.equals("f")));
            case ',' -> resp3(of(kind, head, DECIMAL.matcher(head).matches()));
            case '(' -> resp3(of(kind, head, true));
            case '=' -> resp3(verbatim(bulk(head)));
            default -> throw wrong("a type");
        };
    }

    private boolean isNull(String head) {
        return head.equals("-1") && !isResp3;
    }

    private RawReply resp3(RawReply reply) {
        require(isResp3, "a type of RESP2");
        return reply;
    }

    private RawReply of(char kind, String head, boolean isGood) {
        require(isGood, "a value of type " + kind);
        return new RawReply(kind, head, List.of());
    }

    private RawReply verbatim(String content) {
        require(content.length() > FORMAT_CHARS && content.charAt(FORMAT_CHARS) == ':', "a format of three characters");
        return new RawReply('=', content, List.of());
    }

    private RawReply aggregate(char kind, String head, int each) {
        List<RawReply> elements = new ArrayList<>();
        for (int left = count(head) * each; left > 0; left--) {
            elements.add(next());
        }
        return new RawReply(kind, head, elements);
    }

    private int count(String head) {
        require(COUNT.matcher(head).matches(), "a count");
        return Integer.parseInt(head);
    }

    private String bulk(String head) {
        int end = at + count(head);
        require(text.startsWith("\r\n", end), "the end of a bulk");
        String content = text.substring(at, end);
        at = end + 2;
        return content;
    }

    private String line() {
        int end = text.indexOf('\n', at);
        require(end > at && text.charAt(end - 1) == '\r', "the end of a line");
        String line = text.substring(at, end - 1);
        require(line.indexOf('\r') < 0, "a line without another end");
        at = end + 1;
        return line;
    }

    private void require(boolean isGood, String expected) {
        if (!isGood) {
            throw wrong(expected);
        }
    }

    private AssertionError wrong(String expected) {
        return new AssertionError("Not " + expected + " before byte " + at + ": " + RawReply.quote(text));
    }
}
