//! Names of what there are several kinds of.

/// Gives each kind its name, as it stands in JSON or in a plan, and lists all of them.
macro_rules! named {
    ($(#[doc = $doc:literal])+ $seen:vis $type:ident { $($kind:ident: $name:literal),+ }) => {
        impl $type {
            #[allow(dead_code, reason = "not every type is gone through")]
            pub(crate) const ALL: [$type; [$($type::$kind),+].len()] = [$($type::$kind),+];

            $(#[doc = $doc])+
            $seen fn name(self) -> &'static str {
                match self {
                    $($type::$kind => $name,)+
                }
            }
        }
    };
}

/// Gives each kind its own name, reads it and prints it. A name of none of them is kept as `Other`.
macro_rules! named_or_other {
    ($(#[doc = $doc:literal])+ pub $type:ident { $($kind:ident),+ }) => {
        impl $type {
            $(#[doc = $doc])+
            pub fn name(&self) -> &str {
                match self {
                    $($type::$kind => stringify!($kind),)+
                    $type::Other(name) => name,
                }
            }
        }

        impl From<&str> for $type {
            fn from(name: &str) -> Self {
                match name {
                    $(stringify!($kind) => $type::$kind,)+
                    other => $type::Other(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use {named, named_or_other};
