package io.varve.server.pubsub;

import java.util.Arrays;

/**
 * Those who listen to one name. Many threads: publishers read an array that is replaced, by one thread at a time, under the lock that
 * the registry's map has for the name.
 */
final class Recipients {
    private static final Subscriber[] NOBODY = {};

    private final Scope scope;
    private final Name name;
    private volatile Subscriber[] members = NOBODY;

    /** @param name with bytes of its own */
    Recipients(Scope scope, Name name) {
        this.scope = scope;
        this.name = name;
    }

    Scope scope() {
        return scope;
    }

    Name name() {
        return name;
    }

    /** Those who listen now, in the order in which they came: not to be changed. */
    Subscriber[] members() {
        return members;
    }

    /** One more, who is not among them. @return this */
    Recipients joinedBy(Subscriber subscriber) {
        Subscriber[] before = members;
        Subscriber[] after = Arrays.copyOf(before, before.length + 1);
        after[before.length] = subscriber;
        members = after;
        return this;
    }

    /** One less, if he is among them. @return whether nobody is left */
    boolean leftBy(Subscriber subscriber) {
        Subscriber[] before = members;
        int place = Arrays.asList(before).indexOf(subscriber);
        if (place >= 0) {
            Subscriber[] after = Arrays.copyOf(before, before.length - 1);
            System.arraycopy(before, place + 1, after, place, after.length - place);
            members = after;
        }
        return members.length == 0;
    }
}
