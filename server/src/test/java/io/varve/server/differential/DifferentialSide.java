package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;

/**
 * A connection to one of two compared servers, which sets pushes among the replies aside: a message that a client sends
 * to itself precedes the reply in Redis and follows it in Varve. Confined to the test's thread.
 */
public final class DifferentialSide implements AutoCloseable {
    private static final String MARK = "the mark behind a step";

    private final RawClient client;
    private final List<RawReply> pushed = new ArrayList<>();

    DifferentialSide(int port) throws IOException {
        client = new RawClient(port);
    }

    void write(List<byte[]> arguments) throws IOException {
        client.write(arguments);
    }

    void flush() throws IOException {
        client.flush();
    }

    RawReply read() throws IOException {
        RawReply reply = client.read();
        while (reply.kind() == '>') {
            pushed.add(reply);
            reply = client.read();
        }
        return reply;
    }

    public RawReply call(String... arguments) throws IOException {
        client.queue(arguments);
        client.flush();
        return read();
    }

    void writeWithMark(List<byte[]> arguments) throws IOException {
        client.write(arguments);
        client.queue("PING", MARK);
        client.flush();
    }

    /** The pushes that were set aside and those before the mark, sorted. */
    List<String> readToMark() throws IOException {
        List<String> texts = new ArrayList<>();
        pushed.forEach(push -> addTo(texts, push));
        pushed.clear();
        RawReply reply = client.read();
        while (!isMark(reply)) {
            addTo(texts, reply);
            reply = client.read();
        }
        Collections.sort(texts);
        return texts;
    }

    /** In RESP2 a client that listens is answered as if it were a message. */
    private static boolean isMark(RawReply reply) {
        RawReply last = reply.elements().isEmpty() ? reply : reply.elements().getLast();
        return last.text().equals(MARK);
    }

    /**
     * A client that ends all subscriptions gets the confirmations in any order: names and counts are not compared in
     * pairs.
     */
    private static void addTo(List<String> texts, RawReply reply) {
        List<RawReply> elements = reply.elements();
        if (elements.size() == 3 && elements.getLast().isInteger()) {
            texts.add(reply.kind() + elements.subList(0, 2).toString());
            texts.add(reply.kind() + elements.getFirst().toString() + elements.getLast());
        } else {
            texts.add(reply.toString());
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
    }
}
