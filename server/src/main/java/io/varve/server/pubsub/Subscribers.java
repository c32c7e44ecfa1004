package io.varve.server.pubsub;

import java.util.Arrays;

/**
 * The subscribers of one name. Many threads: publishers read an array, which one thread at a time replaces, under the
 * lock that the registry's map holds for the name.
 */
final class Subscribers {
    private static final Subscriber[] NONE = {};

    private final SubscriptionType scope;
    private final Name name;
    private volatile Subscriber[] members = NONE;

    /** @param name the name, which owns its bytes */
    Subscribers(SubscriptionType scope, Name name) {
        this.scope = scope;
        this.name = name;
    }

    SubscriptionType scope() {
        return scope;
    }

    Name name() {
        return name;
    }

    /** The current subscribers, in subscription order: must not be modified. */
    Subscriber[] members() {
        return members;
    }

    /** Adds a subscriber that is not among them. @return this */
    Subscribers add(Subscriber subscriber) {
        Subscriber[] before = members;
        Subscriber[] after = Arrays.copyOf(before, before.length + 1);
        after[before.length] = subscriber;
        members = after;
        return this;
    }

    /** Removes a subscriber if it is among them. @return whether none is left */
    boolean remove(Subscriber subscriber) {
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
