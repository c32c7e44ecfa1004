package io.varve.server.tracking;

import java.util.List;

import io.varve.server.pubsub.Name;

/**
 * How a client wants to be told of what it may have cached: the options of CLIENT TRACKING. Immutable.
 *
 * @param redirect   the number of the client that is told in its place; 0: itself
 * @param broadcasts whether it is told of all keys with its prefixes, read or not
 * @param optIn      whether only keys of commands behind CLIENT CACHING YES are remembered
 * @param optOut     whether those of commands behind CLIENT CACHING NO are not
 * @param noLoop     whether it is not told of what it changes itself
 * @param prefixes   of the keys that it is told of, with bytes of their own, if it broadcasts: the empty one if it names none
 */
public record TrackingOptions(long redirect, boolean broadcasts, boolean optIn, boolean optOut, boolean noLoop,
        List<Name> prefixes) {
    public TrackingOptions {
        prefixes = List.copyOf(prefixes);
    }
}
